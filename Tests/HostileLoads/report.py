"""What a soak found, as a table for people or JSON for programs."""

from dataclasses import dataclass, field
from typing import Any

from attacker import Findings
from book import Book, Span

OUTCOMES_SHOWN_MAXIMUM = 6
PROBLEMS_SHOWN_MAXIMUM = 40
# How long after a hold all that met it has to be done: boto3 pauses for some seconds between its attempts.
RECOVERY_SECONDS_MAXIMUM = 10


@dataclass
class Verdict:
    """All that was measured, and what is wrong with it."""

    seconds: int
    # The 99th percentile that each client has to keep; None if times are not judged.
    p99_seconds_maximum: float | None
    memory_bytes_maximum: int
    books: list[Book] = field(default_factory=list)
    # When another program held the registry's lock for longer than a request waits for it. Requests of these times are
    # counted apart: no server can answer in time without the registry.
    holds: list[Span] = field(default_factory=list)
    findings: dict[str, Findings] = field(default_factory=dict)
    # Problems found after the loads: lost writes, secrets in the log, a server that does not end.
    problems: list[str] = field(default_factory=list)
    memory_bytes: int = 0
    memory_after_seconds: float = 0.0
    processor_seconds: float = 0.0

    @property
    def is_good(self) -> bool:
        return not self.all_problems()

    def all_problems(self) -> list[str]:
        """Everything that must not be, one line each."""
        problems = []
        for book in self.books:
            if not book.operations:
                problems.append(f"{book.dialect}: did nothing")
            if self.p99_seconds_maximum is not None:
                problems += self._slowness(book, self.p99_seconds_maximum + book.allowance_seconds)
            if book.dialect == "courier" and not book.held:
                problems.append("courier: no long poll was held")
            if book.failed:
                problems.append(f"{book.dialect}: {book.failed} operations failed, the first of them:")
                problems += [f"  {failure}" for failure in book.failures[:3]]
        for name, findings in self.findings.items():
            if not findings.outcomes:
                problems.append(f"{name}: nothing came of {findings.turns} turns, so nothing was tried")
            problems += findings.breaches
        if self.memory_bytes > self.memory_bytes_maximum:
            problems.append(
                f"memory: {mebibytes(self.memory_bytes)} after {self.memory_after_seconds:.0f} s, and should stay "
                f"below {mebibytes(self.memory_bytes_maximum)}")
        return problems + self.problems

    def _slowness(self, book: Book, p99_seconds_maximum: float) -> list[str]:
        problems = []
        if (p99 := book.quantile(0.99, book.apart_from(self.holds))) >= p99_seconds_maximum:
            problems.append(f"{book.dialect}: p99 is {p99:.2f} s, and should be below {p99_seconds_maximum:g} s")
        if (seconds := book.recovery_seconds(self.holds)) > RECOVERY_SECONDS_MAXIMUM:
            problems.append(f"{book.dialect}: an operation took until {seconds:.1f} s after the lock that it met")
        return problems

    def members(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "seconds": self.seconds,
            "clients": {book.dialect: self._members(book) for book in self.books},
            "holdsSeconds": [hold.seconds for hold in self.holds],
            "loads": {
                name: {"turns": findings.turns, "outcomes": {str(key): n for key, n in findings.outcomes.items()}}
                for name, findings in self.findings.items()
            },
            "memoryBytes": self.memory_bytes, "memoryBytesMaximum": self.memory_bytes_maximum,
            "processorSeconds": self.processor_seconds, "problems": self.all_problems(),
        }

    def _members(self, book: Book) -> dict[str, Any]:
        apart, meeting = book.apart_from(self.holds), book.meeting(self.holds)
        postponed_in_holds = book.postponed_in(meeting)
        return {
            "operations": len(apart), "p50Seconds": book.quantile(0.5, apart), "p99Seconds": book.quantile(0.99, apart),
            "maximumSeconds": book.quantile(1, apart), "postponed": len(book.postponements) - postponed_in_holds,
            "reconnected": book.reconnected, "held": book.held, "failed": book.failed,
            "confirmed": len(book.confirmed),
            "inHolds": {
                "operations": len(meeting), "maximumSeconds": book.quantile(1, meeting),
                "postponed": postponed_in_holds,
            },
        }

    def print(self) -> None:
        """Tables, and what is wrong."""
        self._print_clients()
        self._print_loads()
        print(f"\nmemory at most {mebibytes(self.memory_bytes)} of {mebibytes(self.memory_bytes_maximum)}, after "
              f"{self.memory_after_seconds:.0f} s; {self.processor_seconds:.0f} s of processor time")
        problems = self.all_problems()
        for problem in problems[:PROBLEMS_SHOWN_MAXIMUM]:
            print(f"WRONG: {problem}")
        if len(problems) > PROBLEMS_SHOWN_MAXIMUM:
            print(f"WRONG: and {len(problems) - PROBLEMS_SHOWN_MAXIMUM} more")
        print("The API did not give way" if not problems else f"\n{len(problems)} things are wrong")

    def _print_clients(self) -> None:
        """What they did; beside it, behind the line, what they did while another program held the lock for long."""
        print(f"\n{'client':<10}{'operations':>11}{'p50 ms':>9}{'p99 ms':>9}{'max ms':>9}{'put off':>9}"
              f"{'reconnected':>13}{'failed':>8}{'confirmed':>11}  |{'in holds':>9}{'max ms':>9}{'put off':>9}")
        for book in sorted(self.books, key=lambda book: book.dialect):
            row = self._members(book)
            p50, p99, longest, longest_in_holds = (seconds * 1_000 for seconds in (
                row["p50Seconds"], row["p99Seconds"], row["maximumSeconds"], row["inHolds"]["maximumSeconds"]))
            print(f"{book.dialect:<10}{row['operations']:>11}{p50:>9.0f}{p99:>9.0f}{longest:>9.0f}"
                  f"{row['postponed']:>9}{row['reconnected']:>13}{row['failed']:>8}{row['confirmed']:>11}  |"
                  f"{row['inHolds']['operations']:>9}{longest_in_holds:>9.0f}{row['inHolds']['postponed']:>9}")
        holds = ", ".join(f"{hold.seconds:.1f} s" for hold in self.holds)
        print(f"\nanother program held the lock for {holds or 'no long time'}; what met that is counted apart")
        print(f"{sum(book.held for book in self.books)} long polls were held")

    def _print_loads(self) -> None:
        print(f"\n{'hostile load':<28}{'turns':>8}  outcomes")
        for name, findings in self.findings.items():
            outcomes = ", ".join(
                f"{outcome} {count}" for outcome, count in findings.outcomes.most_common(OUTCOMES_SHOWN_MAXIMUM))
            print(f"{name:<28}{findings.turns:>8}  {outcomes}")


def mebibytes(count: int) -> str:
    return f"{count / 2**20:.0f} MiB"
