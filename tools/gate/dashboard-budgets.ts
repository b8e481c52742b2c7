/** Vite's manifest: chunks by the path of their source. */
export type Manifest = Readonly<Record<string, ManifestChunk>>

interface ManifestChunk {
  readonly file: string
  readonly css?: readonly string[]
  /** Keys of chunks that are loaded with it. */
  readonly imports?: readonly string[]
  readonly dynamicImports?: readonly string[]
}

interface Budget {
  readonly name: string
  /** Of the sources whose chunks are counted together. */
  readonly sources: readonly RegExp[]
  /** Counts what opening the tab adds: not what the first screen and the sandbox's screen, which shows the tab, have loaded. */
  readonly isLazy: boolean
  readonly bytes: number
}

const FRAME = /^index\.html$/
const SANDBOX = /screens\/sandbox\/sandbox-screen\.tsx$/
const OVERVIEW = /screens\/overview\/overview-screen\.tsx$/

/** As gzip, thousands of bytes (dashboard-and-cli.md 5.3). */
const BUDGETS: readonly Budget[] = [
  { name: 'the first screen', sources: [FRAME, OVERVIEW], isLazy: false, bytes: 30_000 },
  { name: 'the terminal', sources: [/screens\/sandbox\/terminal\/terminal-tab\.tsx$/], isLazy: true, bytes: 100_000 },
  {
    name: 'the files',
    sources: [/screens\/sandbox\/files\/(files-tab|text-file|editor|diff|.*-editor|.*-diff|diff-view)\.tsx?$/],
    isLazy: true,
    bytes: 110_000,
  },
]

/** @param sizeOf the compressed size of a built file @returns a line for each budget that is exceeded or whose source is absent */
export function budgetProblems(manifest: Manifest, sizeOf: (file: string) => number): readonly string[] {
  const sizeOfAll = (files: ReadonlySet<string>): number => [...files].reduce((sum, file) => sum + sizeOf(file), 0)
  const loaded = filesOf(manifest, [FRAME, OVERVIEW, SANDBOX])
  return BUDGETS.flatMap(({ name, sources, isLazy, bytes }) => {
    const absent = sources.filter((source) => !Object.keys(manifest).some((key) => source.test(key)))
    if (absent.length > 0) return [`${name}: the build has no chunk of ${absent.map(String).join(', ')}`]
    const files = filesOf(manifest, sources)
    const size = sizeOfAll(isLazy ? files.difference(loaded) : files)
    return size <= bytes ? [] : [`${name}: ${size} bytes as gzip, the budget is ${bytes}`]
  })
}

/** The files that the chunks of the sources load before they run. */
function filesOf(manifest: Manifest, sources: readonly RegExp[]): ReadonlySet<string> {
  const files = new Set<string>()
  const seen = new Set<string>()
  const waiting = Object.keys(manifest).filter((key) => sources.some((source) => source.test(key)))
  for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
    if (seen.has(key)) continue
    seen.add(key)
    const chunk = manifest[key]
    if (chunk === undefined) continue
    files.add(chunk.file)
    for (const css of chunk.css ?? []) files.add(css)
    waiting.push(...(chunk.imports ?? []))
  }
  return files
}
