# SPDX-License-Identifier: Apache-2.0
"""From an operation's declaration to a Python function: parameters, docstring, source, stub.

Inputs that are always there come first, in the declared order; everything else is given by name:
optional inputs, optional outputs, options, `out`, `kernel`, `stream`."""
import textwrap

WIDTH = 96
DTYPE_WORDS = {"fp16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
               "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "i64": "int64", "i32": "int32",
               "i16": "int16", "i8": "int8", "u8": "uint8"}


def required_inputs(op):
    return [arg for arg in op["args"] if arg["role"] != "out" and not is_optional(op, arg)]


def optional_inputs(op):
    return [arg for arg in op["args"] if arg["role"] != "out" and is_optional(op, arg)]


def optional_outputs(op):
    return [arg for arg in op["args"] if arg["role"] == "out" and arg["is_optional"]]


def plain_outputs(op):
    return [arg for arg in op["args"] if arg["role"] == "out" and not arg["is_optional"]]


def options(op):
    return [option for option in op["options"] if not option["is_for_strides"]]


def is_optional(op, arg):
    return arg["is_optional"] or bool(arg["present_with"])


def default_of(option):
    if option["kind"] == "choice":
        return option["default"]
    return int(option["default"]) if option["kind"] == "integer" else float(option["default"])


def parameters(op, annotate=False):
    """The parameter list's text."""
    def text(name, kind, default=None):
        head = f"{name}: {kind}" if annotate else name
        return head if default is None else f"{head} = {default}" if annotate else f"{head}={default}"

    listed = [text(arg["name"], "A") for arg in required_inputs(op)] + ["*"]
    listed += [text(arg["name"], "A | None", "None") for arg in optional_inputs(op)]
    listed += [text(arg["name"], "A | bool | None", "None") for arg in optional_outputs(op)]
    listed += [text(option["name"], _kind(option), repr(default_of(option))) for option in options(op)]
    if plain_outputs(op):
        several = len(plain_outputs(op)) > 1
        listed.append(text("out", "A | tuple[A | None, ...] | None" if several else "A | None", "None"))
    listed += [text("kernel", "str", "''"), text("stream", "int | None", "None")]
    return ", ".join(listed)


def _kind(option):
    if option["kind"] == "choice":
        return "Literal[" + ", ".join(repr(choice) for choice in option["choices"]) + "]"
    return "int" if option["kind"] == "integer" else "float"


def result(op):
    """The annotation of what comes back."""
    if not plain_outputs(op):
        return "None"
    is_one = len(plain_outputs(op)) == 1 and not optional_outputs(op)
    return "A" if is_one else "A | tuple[A, ...]"


def _paragraph(first, *sentences):
    text = " ".join(sentence for sentence in sentences if sentence)
    return textwrap.fill(f"{first}: {text}", WIDTH, subsequent_indent="    ", break_on_hyphens=False,
                         break_long_words=False)


def _array_line(op, arg):
    shape = "[" + ", ".join(arg["axes"]) + "]"
    dtypes = " ".join(DTYPE_WORDS.get(dtype, dtype) for dtype in arg["dtypes"])
    notes = [f"{shape}, {dtypes}."]
    if arg["role"] == "inout":
        notes.append("Updated in place.")
    if arg["role"] == "out" and arg["is_optional"]:
        notes.append("True: allocated and returned.")
    if arg["role"] == "out" and arg["dtype_like"]:
        notes.append(f"Of {arg['dtype_like']}'s dtype when allocated.")
    if arg["present_with"]:
        notes.append(f"There when {arg['present_with']} is given.")
    if arg["may_alias"]:
        notes.append("May be the memory of " + " or ".join(arg["may_alias"]) + ".")
    notes.append(_sentence(arg["help"]))
    return _paragraph(arg["name"], *notes)


def _sentence(text):
    text = text.strip()
    return text if not text or text.endswith(".") else text + "."


def _option_line(option):
    if option["kind"] == "choice":
        allowed = "One of " + " ".join(option["choices"]) + "."
    elif option["least"] == float("-inf") and option["greatest"] == float("inf"):
        allowed = ""
    else:
        allowed = f"From {option['least']:g} to {option['greatest']:g}."
    return _paragraph(option["name"], _sentence(option["help"]), allowed)


def docstring(op):
    parts = [op["summary"] + ".", "    " + op["formula"]]
    lines = [_array_line(op, arg) for arg in required_inputs(op) + optional_inputs(op)]
    lines += [_array_line(op, arg) for arg in optional_outputs(op)]
    lines += [_option_line(option) for option in options(op)]
    if plain_outputs(op):
        lines.append(_paragraph("out", "Where to write; allocated like the first input when absent."))
    lines.append(_paragraph("kernel", f"One of rooftile.kernels({op['name']!r}); the best when absent."))
    lines.append(_paragraph("stream", "A CUDA stream's number; the framework's current one when absent."))
    parts.append("Parameters:\n" + textwrap.indent("\n".join(lines), "    "))
    if plain_outputs(op):
        outputs = [_array_line(op, arg) for arg in plain_outputs(op)]
        parts.append("Returns:\n" + textwrap.indent("\n".join(outputs), "    "))
    axes = [_paragraph(name, help_text) for name, help_text in op["axes"] if help_text]
    if axes:
        parts.append("Axes:\n" + textwrap.indent("\n".join(axes), "    "))
    if op["source"]:
        parts.append(_paragraph("Source", op["source"]))
    return "\n\n".join(parts)


def source(op):
    """The function, which puts what it is given in the declared order."""
    def entry(arg):
        return "None" if arg in plain_outputs(op) else arg["name"]

    arrays = "".join(entry(arg) + ", " for arg in op["args"])
    # A default goes as None: the library knows it, and need not read it.
    given = "".join("None, " if option["is_for_strides"] else
                    f"None if {option['name']} is _default_{option['name']} else {option['name']}, "
                    for option in op["options"])
    out = "out" if plain_outputs(op) else "None"
    return (f"def {op['name']}({parameters(op)}):\n"
            f"    return _run({op['name']!r}, ({arrays}), ({given}), {out}, kernel, stream)\n")


def stub(op):
    """The same for type checkers."""
    doc = textwrap.indent('"""' + docstring(op).replace("\\", "\\\\") + '\n"""', "    ")
    return f"def {op['name']}({parameters(op, annotate=True)}) -> {result(op)}:\n{doc}\n    ...\n"


def make(op, run):
    """The function itself. `run` takes what source() passes on."""
    names = {"_run": run, "__name__": "rooftile"}
    exec(source(op), names)
    function = names[op["name"]]
    for name, default in (function.__kwdefaults__ or {}).items():
        names["_default_" + name] = default
    function.__doc__ = docstring(op)
    function.__module__ = "rooftile"
    return function
