"""`python -m suffice`, the same as the command `suffice`."""

from .cli import main

if __name__ == "__main__":
    main()
