import { globSync, readFileSync } from 'node:fs'

const TESTS = ['tests/acceptance/**/*.acc.test.ts', '{apps,packages}/*/test/**/*.test.ts']
const TAG = /\[((?:GET|POST|PUT|PATCH|DELETE|daemon|proxy) [^\]]+|[a-z]+\.[A-Z][a-z]+\/[A-Z][A-Za-z]+)\]/g

/** The test files whose titles name an operation, by its id. The gate runs every one of them. */
export function findTests(root: string): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const file of globSync(TESTS, { cwd: root, exclude: (name) => name === 'node_modules' }).toSorted()) {
    const ids = new Set([...readFileSync(`${root}/${file}`, 'utf8').matchAll(TAG)].map((match) => match[1] ?? ''))
    for (const id of ids) found.set(id, [...(found.get(id) ?? []), file])
  }
  return found
}
