"""``bayesieve completion``: the script that completes commands and options in a shell.

Made from the parser itself, so that it cannot lag behind, and without a dependency: the
commands have options and files, which three short templates cover.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

from bayesieve.cli._command import Command

__all__ = ["COMPLETION"]

_BASH = """\
# bayesieve completion for bash: eval "$(bayesieve completion bash)"
_bayesieve() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
    local options="" choices=""
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{commands} --help --version" -- "$word"))
        return
    fi
    case "${{COMP_WORDS[1]}} $before" in
{choices}
    esac
    if [ -n "$choices" ]; then
        COMPREPLY=($(compgen -W "$choices" -- "$word"))
        return
    fi
    case "${{COMP_WORDS[1]}}" in
{options}
    esac
    case "$word" in
        -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
        *) COMPREPLY=($(compgen -f -- "$word")) ;;
    esac
}}
complete -o filenames -F _bayesieve bayesieve"""

_ZSH = """\
#compdef bayesieve
# bayesieve completion for zsh: eval "$(bayesieve completion zsh)"
_bayesieve() {{
    local -a commands
    commands=(
{commands}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    case "$words[2]" in
{options}
        *) _files ;;
    esac
}}
compdef _bayesieve bayesieve"""


@dataclass(frozen=True)
class _Option:
    """One option: how it is spelt, its help, its choices, whether it takes a value."""

    names: tuple[str, ...]
    help: str
    choices: tuple[str, ...]
    takes_value: bool


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=["bash", "zsh", "fish"], help="which shell")


def _run(arguments: argparse.Namespace) -> None:
    subparsers = next(
        action
        for action in arguments.parser._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    summaries = {a.dest: a.help or "" for a in subparsers._choices_actions}
    options = {
        name: list(_options(parser)) for name, parser in subparsers.choices.items()
    }
    write = {"bash": _bash, "zsh": _zsh, "fish": _fish}[arguments.shell]
    print(write(summaries, options))


def _options(parser: argparse.ArgumentParser) -> Iterator[_Option]:
    """Yield the options of a command, and its first argument if that has choices."""
    for action in parser._actions:
        choices = tuple(str(choice) for choice in action.choices or ())
        if action.option_strings or choices:
            text = (action.help or "").split(" (default")[0].replace("%%", "%")
            names = tuple(action.option_strings)
            yield _Option(names, text, choices, action.nargs != 0)


def _bash(summaries: dict[str, str], options: dict[str, list[_Option]]) -> str:
    chosen, listed = [], []
    for name, own in options.items():
        listed.append(
            f'        {name}) options="{" ".join(n for o in own for n in o.names)}" ;;'
        )
        for option in own:
            for spelt in option.names if option.choices else ():
                words = " ".join(option.choices)
                chosen.append(f'        "{name} {spelt}") choices="{words}" ;;')
            if option.choices and not option.names:
                words = " ".join(option.choices)
                chosen.append(f'        "{name} {name}") choices="{words}" ;;')
    return _BASH.format(
        commands=" ".join(summaries),
        choices="\n".join(chosen),
        options="\n".join(listed),
    )


def _quoted(text: str) -> str:
    return text.replace("'", "'\\''").replace("[", "(").replace("]", ")")


def _zsh(summaries: dict[str, str], options: dict[str, list[_Option]]) -> str:
    described = [f"        '{n}:{_quoted(text)}'" for n, text in summaries.items()]
    cases = []
    for name, own in options.items():
        lines = []
        for option in own:
            action = f"({' '.join(option.choices)})" if option.choices else "_files"
            value = f":value:{action}" if option.takes_value else ""
            for spelt in option.names:
                lines.append(f"            '{spelt}[{_quoted(option.help)}]{value}'")
            if not option.names:
                lines.append(f"            '2:value:{action}'")
        lines.append("            '*:file:_files'")
        body = " \\\n".join(lines)
        cases.append(f"        {name}) _arguments \\\n{body} ;;")
    return _ZSH.format(commands="\n".join(described), options="\n".join(cases))


def _fish(summaries: dict[str, str], options: dict[str, list[_Option]]) -> str:
    lines = ["# bayesieve completion for fish: bayesieve completion fish | source"]
    for name, summary in summaries.items():
        summary = summary.replace("'", "\\'")
        lines.append(
            "complete -c bayesieve -n __fish_use_subcommand -f "
            f"-a {name} -d '{summary}'"
        )
        for option in options[name]:
            parts = [f"complete -c bayesieve -n '__fish_seen_subcommand_from {name}'"]
            for spelt in option.names:
                flag = "-l" if spelt.startswith("--") else "-s"
                parts.append(f"{flag} {spelt.lstrip('-')}")
            if option.choices:
                parts.append(f"-a '{' '.join(option.choices)}'")
            if option.takes_value:
                parts.append("-r" if option.names else "-f")
            text = option.help.replace("'", "\\'")
            lines.append(" ".join([*parts, f"-d '{text}'"]))
    return "\n".join(lines)


COMPLETION = Command(
    name="completion",
    summary="print a script that completes commands and options in a shell",
    description="Print a script that completes commands and options in your shell.",
    add_arguments=_add_arguments,
    run=_run,
    examples=(
        'eval "$(bayesieve completion bash)"     # now, in bash',
        "bayesieve completion fish | source      # now, in fish",
    ),
)
