import { expect, it } from 'vitest'
import { EDGE_CASES } from './edge-cases.ts'
import { renderEdgeCases } from './render-edge-cases.ts'

const all = new Map(EDGE_CASES.map((_, index) => [index + 1, ['apps/daemon/test/some.int.test.ts']]))

it('has a row for each of the 84', () => {
  const rows = renderEdgeCases(all)
    .split('\n')
    .filter((line) => line.startsWith('| 18.'))
  expect(rows).toHaveLength(84)
  expect(rows[0]).toMatch(/^\| 18\.1 \| .* \| \[some\.int\]\(\.\.\/apps\/daemon\/test\/some\.int\.test\.ts\) \|$/)
})

it('fails when a number has no test', () => {
  expect(() => renderEdgeCases(new Map([...all].filter(([number]) => number !== 5 && number !== 53)))).toThrow(/: 5, 53$/)
})
