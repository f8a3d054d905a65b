# SPDX-License-Identifier: Apache-2.0
"""Kernels from the solution's text and from data (describing.py), in a process where none of its Python has run. A kernel's
function is read from its file again and holds nothing but what Triton's language has."""

from __future__ import annotations

import ast
import copy
import importlib
import linecache
import types
from typing import Any

import triton
import triton.language as tl
from triton import knobs
from triton.runtime.jit import JITCallable

from . import errors
from .errors import Failure

STATEMENTS = (ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.While, ast.If, ast.Expr,
              ast.Pass, ast.Break, ast.Continue, ast.Assert, ast.With, ast.withitem)
EXPRESSIONS = (ast.IfExp, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.keyword, ast.Constant, ast.Attribute, ast.Subscript,
               ast.Starred, ast.Name, ast.List, ast.Tuple, ast.Slice, ast.JoinedStr, ast.FormattedValue, ast.ListComp, ast.comprehension,
               ast.boolop, ast.operator, ast.unaryop, ast.cmpop, ast.expr_context)
BUILTINS = {"abs", "bool", "float", "int", "len", "list", "max", "min", "print", "range", "tuple", "zip", "enumerate"}
# These tell Triton's interpreter from its compiler, whose constants have types of their own.
COMPILED_BUILTINS = {"isinstance", "hasattr"}
NOT_INTERPRETED = {"inline_asm_elementwise", "extern_elementwise", "map_elementwise", "dot_scaled"}
ATTRIBUTES = {name for kind in (tl.tensor, tl.dtype, tl.pointer_type, tl.block_type, tl.constexpr, tl.tuple, tl.core.tensor_descriptor_base,
                                tl.core.tensor_descriptor) for name in dir(kind) if not name.startswith("_")}
ATTRIBUTES |= {"shape", "numel", "dtype", "type", "scalar", "element_ty", "strides", "block_shape", "values"}
ATTRIBUTES -= {"handle", "to_ir"}


class Unknown:
    """A value that no kernel can use."""

    def __init__(self, kind: str, is_module: bool = False) -> None:
        self.kind = kind
        self.is_module = is_module


def is_tritons(module: str) -> bool:
    return module in ("triton", "triton.language") or module.startswith("triton.language.")


class Functions:
    """The functions of one workload, by their places in its list."""

    def __init__(self, files: list[dict[str, str]], forms: list[dict[str, Any]]) -> None:
        self.texts = {file["name"]: file["content"] for file in files}
        self.forms = forms
        self.made: dict[int, Any] = {}
        for name, text in self.texts.items():
            errors.solution_files.add(name)
            linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)

    def value(self, form: Any) -> Any:
        if form is None or isinstance(form, (bool, int, str)):
            return form
        (kind, content), = form.items()
        if kind == "float":
            return float.fromhex(content)
        if kind == "dtype":
            return tl.dtype(content)
        if kind == "constexpr":
            return tl.constexpr(self.value(content))
        if kind == "tuple":
            return tuple(self.value(item) for item in content)
        if kind == "module" and is_tritons(content):
            return importlib.import_module(content)
        if kind == "of" and is_tritons(content[0]) and not content[1].startswith("_"):
            found = getattr(importlib.import_module(content[0]), content[1])
            if knobs.runtime.interpret and tl.core.is_builtin(found):
                from . import operators
                return operators.found_late(found)
            return found
        if kind == "function":
            return self.function(content)
        return Unknown(str(content), kind == "module")

    def function(self, index: int) -> Any:
        if not 0 <= index < len(self.forms):
            raise ValueError("a function that is not there")
        if index not in self.made:
            form = self.forms[index]
            node = self.definition(form)
            namespace: dict[str, Any] = {"__name__": form["file"].removesuffix(".py").replace("/", "."), "__builtins__": __builtins__}
            self.made[index], pythons = made(node, form, namespace)
            namespace.update({name: self.value(value) for name, value in form["names"].items()})
            namespace["_language"] = tl  # the interpreter looks for it
            Checker(form, namespace, node).visit(with_known_types(node, form, namespace))
            for python in pythons:
                names = python.__code__.co_varnames[:python.__code__.co_argcount]
                python.__defaults__ = tuple(self.value(form["defaults"][name]) for name in names[len(names) - len(node.args.defaults):])
                python.__kwdefaults__ = {argument.arg: self.value(form["defaults"][argument.arg])
                                         for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults) if default is not None}
        return self.made[index]

    def definition(self, form: dict[str, Any]) -> ast.FunctionDef:
        """@error Failure: refused, it is not in the files."""
        file, name = form["file"], form["name"]
        if file in self.texts:
            for node in ast.walk(ast.parse(self.texts[file])):
                if isinstance(node, ast.FunctionDef) and node.name == name:
                    if min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) == form["line"]:
                        return node
        raise Failure("refused", f"{str(name)[:100]}: a kernel is a function in the solution's files; this one was made while they ran",
                      call="triton.jit")


def stripped(node: ast.FunctionDef, form: dict[str, Any]) -> ast.FunctionDef:
    """Without what would run when it is defined: decorators, defaults, annotations."""
    node = copy.deepcopy(node)
    node.decorator_list, node.returns = [], None
    arguments = node.args
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
        if argument is not None:
            given = form["annotations"].get(argument.arg)
            argument.annotation = ast.copy_location(ast.Constant(str(given)), argument) if given else None
    arguments.defaults = [ast.copy_location(ast.Constant(None), default) for default in arguments.defaults]
    arguments.kw_defaults = [None if default is None else ast.copy_location(ast.Constant(None), default) for default in arguments.kw_defaults]
    return node


class KnownTypes(ast.NodeTransformer):
    """What another module has becomes `int`, which Triton knows."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.namespace = namespace

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        owner: ast.AST = node
        while isinstance(owner, ast.Attribute):
            owner = owner.value
        module = self.namespace.get(owner.id) if isinstance(owner, ast.Name) else None
        if isinstance(module, Unknown) and module.is_module:
            return ast.copy_location(ast.Name("int", ast.Load()), node)
        return self.generic_visit(node)


def with_known_types(root: ast.AST, form: dict[str, Any], namespace: dict[str, Any]) -> ast.AST:
    """With annotations that Triton can look up here: it evaluates them as it does code, and ignores types, but torch, whose Tensor
    many of them name, is not here. In a function that runs as Python no annotation counts."""
    known = KnownTypes(namespace)
    for node in ast.walk(root):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg) and node.annotation is not None:
            node.annotation = None if form["constexpr"] else known.visit(node.annotation)
        elif isinstance(node, ast.AnnAssign):
            annotation = node.annotation
            if form["constexpr"]:
                node.annotation = ast.copy_location(ast.Constant(None), annotation)
            elif not (isinstance(annotation, ast.Attribute) and annotation.attr == "constexpr"):  # this one counts
                node.annotation = known.visit(annotation)
    return root


def made(node: ast.FunctionDef, form: dict[str, Any], namespace: dict[str, Any]) -> tuple[Any, list[types.FunctionType]]:
    """What the decorator would have made of the function, and the Python functions in it. Names and defaults come later."""
    plain = stripped(node, form)
    python = defined(plain, form, namespace)
    if form["constexpr"]:
        function = triton.constexpr_function(python)
        parse_known_types(function, form, namespace)
        return function, [python]
    function = triton.jit(python, noinline=form["noinline"] or None, do_not_specialize=form["unspecialized"],
                          do_not_specialize_on_alignment=form["unaligned"])
    if knobs.runtime.interpret:
        from triton.runtime import interpreter
        from . import operators
        for name, value in vars(interpreter).items():
            namespace.setdefault(name, value)
        namespace.update(operators.names())
        rewritten = function.rewritten_fn[python] = defined(interpreter.ASTTransformer().visit(operators.Rewriter().visit(plain)), form, namespace)
        return function, [python, rewritten]
    if ast.dump(stripped(function.parse().body[0], form)) != ast.dump(plain):
        raise Failure("refused", f"{node.name}: its text is not where it is defined", call="triton.jit", file=form["file"], line=node.lineno)
    parse_known_types(function, form, namespace)
    return function, [python]


def parse_known_types(function: JITCallable, form: dict[str, Any], namespace: dict[str, Any]) -> None:
    """What Triton parses of the function from now on; lines and columns stay."""
    parse = function.parse
    function.parse = lambda: with_known_types(parse(), form, namespace)


def defined(node: ast.FunctionDef, form: dict[str, Any], namespace: dict[str, Any]) -> types.FunctionType:
    found: dict[str, Any] = {}
    tree = ast.fix_missing_locations(ast.Module([node], []))
    exec(compile(tree, form["file"], "exec", dont_inherit=True), namespace, found)
    return found[node.name]


class Checker(ast.NodeVisitor):
    """Refuses what is not Triton's language, for a kernel that is interpreted runs as Python."""

    def __init__(self, form: dict[str, Any], namespace: dict[str, Any], root: ast.FunctionDef) -> None:
        self.form, self.namespace = form, namespace
        self.local = {node.id for node in ast.walk(root) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        self.local |= {node.arg for node in ast.walk(root.args) if isinstance(node, ast.arg)}
        self.builtins = BUILTINS | (set() if knobs.runtime.interpret and not form["constexpr"] else COMPILED_BUILTINS)

    def need_interpreted(self, node: ast.AST, function: Any) -> None:
        """Triton's interpreter has no numbers for some of the language: functions of libdevice and assembly are machine code."""
        module, name = str(getattr(function, "__module__", "")), getattr(function, "__name__", "?")
        is_devices = module.startswith("triton.language.extra.") and tl.core.is_builtin(function)
        owner = ("libdevice" if module.endswith(".libdevice") else "tl" if name in NOT_INTERPRETED else
                 ".".join(["tl", *module.split(".")[2:4]]) if is_devices else None)
        if knobs.runtime.interpret and is_tritons(module) and owner is not None:
            self.refuse(node, f"uses {owner}.{name}, which is not interpreted; verify it on a device")

    def refuse(self, node: ast.AST, what: str) -> None:
        raise Failure("refused", f"{self.form['name']}: {what}", call="triton.jit", file=self.form["file"], line=getattr(node, "lineno", None))

    def generic_visit(self, node: ast.AST) -> None:
        if not isinstance(node, STATEMENTS + EXPRESSIONS):
            self.refuse(node, f"{type(node).__name__} is not of Triton's language")
        super().generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.visit(node.args)
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef):
                self.refuse(statement, "a function in a kernel")
            self.visit(statement)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store) or node.id in self.local:
            return
        if node.id in self.form["names"]:
            value = self.namespace[node.id]
            self.need_interpreted(node, value)
            if isinstance(value, Unknown):
                self.refuse(node, f"uses {node.id} ({value.kind}); kernels use @triton.jit functions, triton.language and tl.constexpr values")
        elif node.id not in self.builtins:
            self.refuse(node, f"uses {node.id}, which Triton's language has not")

    def visit_Compare(self, node: ast.Compare) -> None:
        """Python would ask a block whether it is true."""
        is_chain, is_search = len(node.ops) > 1, isinstance(node.ops[0], (ast.In, ast.NotIn))
        if (is_chain or is_search) and not self.form["constexpr"]:
            self.refuse(node, "a chain of comparisons is not of Triton's language; write (a < b) & (b < c)" if is_chain else
                        "`in` is not of Triton's language")
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr.startswith("_"):
            self.refuse(node, f"uses the attribute {node.attr}")
        owner = self.module_of(node.value)
        if owner is None:
            self.visit(node.value)
            if node.attr not in ATTRIBUTES:
                self.refuse(node, f"uses the attribute {node.attr}, which no value of Triton's has")
        elif self.module_of(node) is None:
            found = getattr(owner, node.attr, None)
            self.need_interpreted(node, found)
            plain = isinstance(found, (JITCallable, tl.dtype, tl.constexpr, bool, int, float, str, type(None)))
            if not plain and not is_tritons(str(getattr(found, "__module__", ""))) and type(found).__name__ != "InterpretedFunction":
                self.refuse(node, f"uses {owner.__name__}.{node.attr}, which is not of Triton's language")

    def module_of(self, node: ast.AST) -> types.ModuleType | None:
        """The module that the expression names; none: it names something else."""
        found: Any = None
        if isinstance(node, ast.Name) and node.id not in self.local and node.id in self.form["names"]:
            found = self.namespace[node.id]
        elif isinstance(node, ast.Attribute) and not node.attr.startswith("_"):
            owner = self.module_of(node.value)
            found = getattr(owner, node.attr, None) if owner is not None else None
        return found if isinstance(found, types.ModuleType) and is_tritons(found.__name__) else None
