"""`python -m biasbounty` is `biasbounty`."""

from biasbounty.cli import main

if __name__ == "__main__":
    main()
