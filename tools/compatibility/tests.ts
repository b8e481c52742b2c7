import { globSync, readFileSync } from 'node:fs'

const TESTS = ['tests/acceptance/**/*.acc.test.ts', '{apps,packages}/*/test/**/*.test.ts']
const TAG = /\[((?:GET|POST|PUT|PATCH|DELETE|daemon|proxy) [^\]]+|[a-z]+\.[A-Z][a-z]+\/[A-Z][A-Za-z]+)\]/g

const EDGE_TESTS = [...TESTS, '{apps,packages}/*/src/**/*.test.ts']
const EDGE_CASE = /\(envd\.md (18\.\d+(?:(?:, | and )18\.\d+)*)\)/g

/** The test files whose titles contain the id of an operation. The gate runs every one of them. */
export function findTests(root: string): Map<string, string[]> {
  return collect(root, TESTS, (text) => [...text.matchAll(TAG)].map((match) => match[1] ?? ''))
}

/** The test files whose titles name an edge case, `(envd.md 18.34)` or `(envd.md 18.34, 18.35)`, by its number. */
export function findEdgeCaseTests(root: string): Map<number, string[]> {
  return collect(root, EDGE_TESTS, (text) =>
    [...text.matchAll(EDGE_CASE)].flatMap(([, numbers = '']) => [...numbers.matchAll(/18\.(\d+)/g)].map((match) => Number(match[1]))),
  )
}

function collect<Key>(root: string, patterns: readonly string[], keysOf: (text: string) => readonly Key[]): Map<Key, string[]> {
  const found = new Map<Key, string[]>()
  for (const file of globSync(patterns, { cwd: root, exclude: (name) => name === 'node_modules' }).toSorted()) {
    for (const key of new Set(keysOf(readFileSync(`${root}/${file}`, 'utf8')))) found.set(key, [...(found.get(key) ?? []), file])
  }
  return found
}

/** Links from `docs/` to test files, by their short names. */
export function linkTests(files: readonly string[]): string {
  return files.map((file) => `[${file.split('/').at(-1)?.replace('.test.ts', '')}](../${file})`).join(', ')
}
