"""Runs each case of a program by itself: one that fails is reported and the next one starts."""
import sys
import traceback


def run(cases, only=None):
    failed = 0
    for case in cases:
        name = case.__name__
        if only and name not in only:
            continue
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
