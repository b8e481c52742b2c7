"""A fixture `sandbox`: created for each test that asks for it, and killed after it, also after a failure."""

import pytest
from e2b import Sandbox


@pytest.fixture
def template():
    """Override it in a module or a class to use another template."""
    return "base"


@pytest.fixture
def sandbox(request, template):
    sandbox = Sandbox.create(template, timeout=120, metadata={"test": request.node.name})
    try:
        yield sandbox
    finally:
        sandbox.kill()
