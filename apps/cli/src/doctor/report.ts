import { styleText } from 'node:util'
import { printable } from '../output.ts'
import type { Level } from './check.ts'
import type { CheckResult } from './run-checks.ts'

/** A check in the document of `--json`. The fields stay; more may come. */
interface ReportedCheck {
  readonly id: string
  readonly group: string
  readonly title: string
  readonly level: Level
  readonly found: string
  readonly why: string
  /** What to do; null for ok and skipped. */
  readonly todo: string | null
  readonly commands: readonly string[]
  readonly ms: number
}

export interface Report {
  /** False exactly when a check failed: the exit code is then 7. */
  readonly ok: boolean
  readonly counts: Readonly<Record<Level, number>>
  readonly checks: readonly ReportedCheck[]
}

export function toReport(results: readonly CheckResult[]): Report {
  const counts = countLevels(results)
  return { ok: counts.fail === 0, counts, checks: results.map(toReported) }
}

function toReported({ group, check, finding, ms }: CheckResult): ReportedCheck {
  const { id, title, why } = check
  const { level, found } = finding
  return { id, group, title, level, found, why, todo: todoOf({ check, finding }) ?? null, commands: finding.commands ?? [], ms }
}

function countLevels(results: readonly CheckResult[]): Record<Level, number> {
  const counts = { ok: 0, warn: 0, fail: 0, skipped: 0 }
  for (const { finding } of results) counts[finding.level] += 1
  return counts
}

/** Undefined for ok and skipped. */
function todoOf({ check, finding }: Pick<CheckResult, 'check' | 'finding'>): string | undefined {
  if (finding.level === 'ok' || finding.level === 'skipped') return undefined
  const { todo, hasUsualTodo = false } = finding
  return [...(todo === undefined || hasUsualTodo ? [check.todo] : []), ...(todo === undefined ? [] : [todo])].join(' ')
}

type Format = Parameters<typeof styleText>[0]

const STYLES: Readonly<Record<Level, Format>> = { ok: 'green', warn: 'yellow', fail: 'red', skipped: 'dim' }
const INDENT = ' '.repeat(10)
const LEAST_WIDTH = 60

export interface Looks {
  /** A terminal that shows colours. */
  readonly hasColours: boolean
  /** Columns of the terminal; undefined leaves long lines as they are. */
  readonly width: number | undefined
}

export function groupHead(title: string, { hasColours }: Looks): string {
  return paint('bold', title, hasColours)
}

/** One line for ok and skipped; for others also why it matters, what to do, and the commands that do it. */
export function resultLines({ check, finding }: CheckResult, looks: Looks): string[] {
  const { level, found, commands = [] } = finding
  const mark = paint(STYLES[level], level.padEnd(4), looks.hasColours)
  const head = `  ${check.id}  ${mark}  `
  // Colours take no room.
  const lines = wrap(`${check.title}: ${printable(found)}`, looks.width)
  const [first = '', ...rest] = lines
  const more = rest.map((line) => `${INDENT}${line}`)
  const todo = todoOf({ check, finding })
  if (todo === undefined) return [`${head}${first}`, ...more]
  const texts = [`why: ${check.why}`, `do:  ${todo}`].flatMap((text) => wrap(text, looks.width).map((line) => `${INDENT}${line}`))
  return [`${head}${first}`, ...more, ...texts, ...commands.map((command) => `${INDENT}run: ${printable(command)}`)]
}

export function summary(results: readonly CheckResult[], looks: Looks): string {
  const counts = countLevels(results)
  const parts = (['ok', 'warn', 'fail', 'skipped'] as const).filter((level) => counts[level] > 0)
  return parts.map((level) => paint(STYLES[level], `${counts[level]} ${level}`, looks.hasColours)).join(', ')
}

function paint(style: Format, text: string, hasColours: boolean): string {
  return hasColours ? styleText(style, text, { validateStream: false }) : text
}

function wrap(text: string, width: number | undefined): string[] {
  if (width === undefined) return [text]
  const room = Math.max(LEAST_WIDTH, width) - INDENT.length - 2
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > room) {
      lines.push(line)
      line = word
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  return [...lines, line]
}
