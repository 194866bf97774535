"""The compiled parts. Each is optional: without a C compiler the NumPy twin beside it serves."""

from pathlib import Path

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            str(source.with_suffix("")).removeprefix("src/").replace("/", "."),
            sources=[str(source)],
            depends=[str(header) for header in source.parent.glob("*.h")],
            extra_compile_args=["-O3"],
            optional=True,
        )
        for source in sorted(Path("src/acclock").rglob("_*.c"))
    ]
)
