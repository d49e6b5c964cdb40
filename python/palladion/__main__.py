"""The `palladion` program: `palladion check kernel.ptx ...`, `palladion exec -- python train.py`."""
import os
import sys

from ._home import home


def main() -> None:
    """Becomes the program, with the words of this one."""
    program = home().program
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    main()
