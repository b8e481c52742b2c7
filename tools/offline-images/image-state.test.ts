import { expect, it } from 'vitest'
import { imageState } from './image-state.ts'
import { renderList } from './render-list.ts'
import type { StandIn } from './stand-in.ts'

const caddy: StandIn = { image: 'caddy:2', madeOf: "Debian's packages", recipe: { folder: new URL('file:///recipe/') } }
const debian: StandIn = { image: 'debian:bookworm-slim', madeOf: 'packages', recipe: 'debian' }

it.each([
  ['missing', undefined],
  ['theirs', {}],
  // Inherited from the image on which somebody has built their own.
  ['theirs', { 'sandyard.stand-in': 'mmdebstrap' }],
  ['theirs', { 'sandyard.stand-in': 'node:24', 'sandyard.stand-in-sources': 'abc' }],
  ['current', { 'sandyard.stand-in': 'caddy:2', 'sandyard.stand-in-sources': 'abc' }],
  ['outdated', { 'sandyard.stand-in': 'caddy:2', 'sandyard.stand-in-sources': 'def' }],
  ['outdated', { 'sandyard.stand-in': 'caddy:2' }],
])('is %s with the labels %j', (state, labels) => {
  expect(imageState(caddy, labels as Record<string, string> | undefined, 'abc')).toBe(state)
})

it("knows the product's own Debian image from a pulled one", () => {
  expect(imageState(debian, { 'sandyard.stand-in': 'mmdebstrap' }, '')).toBe('current')
  expect(imageState(debian, {}, '')).toBe('theirs')
})

it('renders a table in columns', () => {
  const table = renderList([
    { standIn: debian, state: 'theirs' },
    { standIn: caddy, state: 'missing' },
  ])
  expect(table).toBe(
    "debian:bookworm-slim  there, not a stand-in  packages\ncaddy:2               missing                Debian's packages\n",
  )
})
