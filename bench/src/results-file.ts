import { readFile, writeFile } from 'node:fs/promises'
import { renderPage } from './html/page.ts'
import type { Machine } from './machine.ts'
import { toRow, type Comparison, type Row } from './report.ts'
import type { Samples } from './samples.ts'

/** A comparison, and the benchmark that made it. */
export type Measured = Comparison & { readonly bench?: string | undefined }

/** A run as it is stored. `rows` are derived from all samples; of long series `comparisons` have every k-th sample only. */
export interface ResultsFile {
  readonly machine: Machine
  readonly rows: readonly Row[]
  readonly comparisons: readonly Measured[]
  /** Benchmarks without numbers, with the reason. */
  readonly missing?: Readonly<Record<string, string>>
}

export interface Outputs {
  readonly json?: string | undefined
  readonly html?: string | undefined
}

/** Samples of one series in a file. */
const MOST_SAMPLES = 2000

export function toResults(machine: Machine, comparisons: readonly Measured[], missing: Readonly<Record<string, string>> = {}): ResultsFile {
  return { machine, rows: comparisons.map(toRow), comparisons: comparisons.map(thin), missing }
}

/** Writes the files that were asked for. */
export async function writeResults({ json, html }: Outputs, results: ResultsFile): Promise<void> {
  if (json !== undefined) await writeFile(json, `${JSON.stringify(results, undefined, 1)}\n`)
  if (html !== undefined) await writeFile(html, renderPage(results))
}

/** @throws Error when the file has no samples */
export async function readResults(file: string): Promise<ResultsFile> {
  const results = JSON.parse(await readFile(file, 'utf8')) as Partial<ResultsFile>
  if (!Array.isArray(results.comparisons))
    throw new Error(`${file} has no samples: write it with \`npm run bench -- --json FILE\` of this release.`)
  return results as ResultsFile
}

function thin({ ours, against, ...rest }: Measured): Measured {
  return { ...rest, ours: bounded(ours), ...(against && { against: { ...against, samples: bounded(against.samples) } }) }
}

/** Rounded too, because more digits than a clock has are only bytes. */
function bounded(samples: Samples): Samples {
  const step = Math.ceil(samples.length / MOST_SAMPLES)
  return samples.filter((_, index) => index % step === 0).map((value) => Number(value.toPrecision(5)))
}
