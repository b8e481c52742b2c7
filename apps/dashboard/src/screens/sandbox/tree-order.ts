export interface TreeItem<Item> {
  readonly item: Item
  /** From 0. */
  readonly level: number
  readonly children: number
}

/**
 * Items with parents as a list, each followed by those below it. Those whose parent is not among them are roots; the order of siblings stays. Items of a
 * circle, which no honest source has, are roots in turn, so that nothing is lost.
 */
export function treeOrder<Item>(
  items: readonly Item[],
  idOf: (item: Item) => string | number,
  parentOf: (item: Item) => string | number | null,
): readonly TreeItem<Item>[] {
  const ids = new Set(items.map(idOf))
  const below = new Map<string | number | null, Item[]>()
  for (const item of items) {
    const parent = parentOf(item)
    const key = parent !== null && ids.has(parent) && parent !== idOf(item) ? parent : null
    below.set(key, [...(below.get(key) ?? []), item])
  }
  const rows: TreeItem<Item>[] = []
  const seen = new Set<string | number>()
  const walk = (roots: readonly Item[]): void => {
    const waiting = roots.map((item) => ({ item, level: 0 })).toReversed()
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const id = idOf(next.item)
      if (seen.has(id)) continue
      seen.add(id)
      const children = below.get(id) ?? []
      rows.push({ ...next, children: children.length })
      const level = next.level + 1
      waiting.push(...children.map((item) => ({ item, level })).toReversed())
    }
  }
  walk(below.get(null) ?? [])
  for (const item of items) if (!seen.has(idOf(item))) walk([item])
  return rows
}
