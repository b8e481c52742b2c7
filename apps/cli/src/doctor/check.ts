import type { Facts } from './facts/facts.ts'

/** Only `fail` makes the command end with exit code 7. */
export type Level = 'ok' | 'warn' | 'fail' | 'skipped'

export interface Finding {
  readonly level: Level
  /** What was found, with its numbers; for `skipped` the reason. */
  readonly found: string
  /** What to do about this finding, when that is more exact than the check's own text. */
  readonly todo?: string
  /** The check's own text counts beside `todo`. */
  readonly hasUsualTodo?: boolean
  /** Commands of `--fix`, which repair what was found. Each runs alone, in a shell. */
  readonly commands?: readonly string[]
}

/** One check of dashboard-and-cli.md 6.1. */
export interface Check {
  readonly id: string
  readonly title: string
  /** What it compares, and when it warns and fails: the row of docs/doctor.md. */
  readonly checks: string
  readonly why: string
  readonly todo: string
  /** It needs a sandbox of its own: `--deep`. Without it the check is skipped. */
  readonly isDeep?: boolean
  /** @throws Unreadable when a fact is not there: the check is skipped with that reason */
  run(facts: Facts): Promise<Finding>
}

type More = Pick<Finding, 'todo' | 'commands'>

export const ok = (found: string): Finding => ({ level: 'ok', found })
export const warn = (found: string, more: More = {}): Finding => ({ level: 'warn', found, ...more })
export const fail = (found: string, more: More = {}): Finding => ({ level: 'fail', found, ...more })
export const skipped = (reason: string): Finding => ({ level: 'skipped', found: reason })

/** The worst of several findings, with the texts of all that are as bad. Without any it is `otherwise`. */
export function worstOf(findings: readonly (Finding | undefined)[], otherwise: string): Finding {
  const present = findings.filter((finding) => finding !== undefined)
  const level = present.some((finding) => finding.level === 'fail') ? 'fail' : 'warn'
  const bad = present.filter((finding) => finding.level === 'fail' || finding.level === 'warn')
  if (bad.length === 0) return ok(otherwise)
  const commands = bad.flatMap((finding) => finding.commands ?? [])
  const todos = bad.flatMap(({ todo }) => todo ?? [])
  return {
    level,
    found: bad.map(({ found }) => found).join('; '),
    ...(todos.length > 0 && { todo: todos.join(' '), hasUsualTodo: todos.length < bad.length }),
    ...(commands.length > 0 && { commands }),
  }
}
