import { toRow, type Comparison, type Row } from '../report.ts'

/** The results of the rows: numbers, or the reason why there are none. */
export interface Results {
  readonly rows: readonly Row[]
  /** The samples behind the rows. */
  readonly comparisons: readonly Comparison[]
  readonly missing: Readonly<Record<string, string>>
}

/** Collects the rounds: samples of the same comparison belong to one row. */
export class ResultCollector {
  readonly #comparisons = new Map<string, Comparison>()
  readonly #missing = new Map<string, string>()

  add({ what, unit, ours, against, goal, cpuMs }: Comparison): void {
    const key = `${what}\n${against?.name}`
    const known = this.#comparisons.get(key)
    const all = against && { name: against.name, samples: [...(known?.against?.samples ?? []), ...against.samples] }
    const cpu = cpuMs && {
      ours: [...(known?.cpuMs?.ours ?? []), ...cpuMs.ours],
      against: [...(known?.cpuMs?.against ?? []), ...cpuMs.against],
    }
    this.#comparisons.set(key, { what, unit, ours: [...(known?.ours ?? []), ...ours], against: all, goal, cpuMs: cpu })
  }

  /** Numbers of another round are kept. */
  addMissing(name: string, reason: string): void {
    this.#missing.set(name, reason)
  }

  results(): Results {
    const comparisons = [...this.#comparisons.values()]
    return { rows: comparisons.map(toRow), comparisons, missing: Object.fromEntries(this.#missing) }
  }
}

const HEADS = ['row', 'unit', 'n', 'ours p50 / p95', 'compared with', 'p50 / p95', 'ratio', 'goal', 'met', 'CPU ms each']

/** All rows as one table in Markdown. */
export function formatTable({ rows, missing }: Pick<Results, 'rows' | 'missing'>): string {
  const lines = [
    HEADS,
    ...rows.map(({ what, unit, n, ours, against, ratio, goal, met, cpuMs }) => [
      what,
      unit,
      String(n),
      `${ours.p50} / ${ours.p95}`,
      against?.name ?? '',
      against === undefined ? '' : `${against.p50} / ${against.p95}`,
      ratio === undefined ? '' : `${ratio.p50} / ${ratio.p95}`,
      goal ?? '',
      met === undefined ? '' : met ? 'yes' : 'NO',
      cpuMs === undefined ? '' : `${cpuMs.ours} / ${cpuMs.against}`,
    ]),
  ]
  const widths = HEADS.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const [head = '', ...body] = lines.map((line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`)
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  const absent = Object.entries(missing).map(([name, reason]) => `${name}: ${reason}`)
  return [head, rule, ...body, ...(absent.length > 0 ? ['', ...absent] : [])].join('\n')
}
