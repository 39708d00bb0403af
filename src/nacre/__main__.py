"""`python -m nacre`."""

from nacre.cli.main import main

if __name__ == "__main__":
    main()
