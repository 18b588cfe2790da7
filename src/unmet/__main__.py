"""`python -m unmet`: the same as `unmet`."""

from unmet.cli import main

if __name__ == "__main__":
    main()
