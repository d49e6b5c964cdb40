"""Runs each case of a program by itself: one that fails is reported and the next one starts."""
import sys
import traceback


def one_configuration():
    """Autotuners measure nothing and take their first configuration: the same kernels in each run, and soon."""
    from triton.runtime.autotuner import Autotuner
    prune = Autotuner.prune_configs
    Autotuner.prune_configs = lambda self, arguments: list(prune(self, arguments))[:1]
    Autotuner._bench = lambda self, *arguments, **options: [0.0, 0.0, 0.0]


def chosen(cases, only):
    """Of the names and shares of a command line: 2/4 is the second of four shares."""
    if not only:
        return cases
    shares = [[int(n) for n in w.split('/')] for w in only if '/' in w]
    return [c for i, c in enumerate(cases) if c.__name__ in only or any(i % of == share - 1 for share, of in shares)]


def run(cases, only=None):
    failed = 0
    for case in chosen(cases, only):
        name = case.__name__
        try:
            case()
            print('ran', name, flush=True)
        except Exception as error:  # a library may raise anything
            failed += 1
            print('failed', name, repr(error)[:300], flush=True)
            traceback.print_exc(limit=3, file=sys.stderr)
    return 1 if failed else 0


def main(cases):
    sys.exit(run(cases, sys.argv[1:]))
