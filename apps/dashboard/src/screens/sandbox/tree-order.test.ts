import { expect, it } from 'vitest'
import { treeOrder } from './tree-order.ts'

interface Item {
  readonly id: number
  readonly parent: number | null
}
const order = (items: readonly Item[]) =>
  treeOrder(
    items,
    ({ id }) => id,
    ({ parent }) => parent,
  ).map(({ item, level }) => `${level}:${item.id}`)

it('puts each item after its parent', () => {
  expect(
    order([
      { id: 1, parent: 0 },
      { id: 4, parent: 2 },
      { id: 2, parent: 1 },
      { id: 3, parent: 1 },
      { id: 5, parent: null },
    ]),
  ).toEqual(['0:1', '1:2', '2:4', '1:3', '0:5'])
})

it('loses nothing of a circle, and ends', () => {
  expect(
    order([
      { id: 1, parent: 2 },
      { id: 2, parent: 1 },
      { id: 3, parent: 3 },
    ]).sort(),
  ).toEqual(['0:1', '0:3', '1:2'])
})
