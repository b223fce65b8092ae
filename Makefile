# The two commands of the README: `make book` and `make test`. Each works alone and first, on a machine that has
# nothing but Python and make, and does nothing twice.
.DELETE_ON_ERROR:
.PHONY: book test check serve clean lint

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

book: $(STAMP)
	$(BIN)/evidence build

test: $(STAMP) lint
	$(BIN)/python -m pytest -q

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

check: $(STAMP)
	$(BIN)/evidence check

serve: $(STAMP)
	$(BIN)/evidence serve

# A machine that has a torch of its own (a CUDA image, say) keeps it: the lock then holds for everything but torch.
$(STAMP): pyproject.toml constraints.txt
	@echo "installing into $(VENV)"
	@if $(PYTHON) -c 'import torch' 2>/dev/null; then \
		$(PYTHON) -m venv --system-site-packages $(VENV) && \
		grep -v '^torch==' constraints.txt > $(VENV)/constraints.txt; \
	else \
		$(PYTHON) -m venv $(VENV) && cp constraints.txt $(VENV)/constraints.txt; \
	fi
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c $(VENV)/constraints.txt -e '.[dev]'
	@touch $(STAMP)

clean:
	rm -rf _build book/_generated notebooks/_executed .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
