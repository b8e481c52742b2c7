/** Ticks or unticks a row; with `isRange` all rows from the one that was clicked before. Returns the new selection. */
export function selectRow(
  selected: ReadonlySet<string>,
  {
    id,
    last,
    isRange,
    order,
  }: { readonly id: string; readonly last: string | undefined; readonly isRange: boolean; readonly order: readonly string[] },
): ReadonlySet<string> {
  const next = new Set(selected)
  const isOn = !selected.has(id)
  const from = last === undefined ? -1 : order.indexOf(last)
  const to = order.indexOf(id)
  const ids = isRange && from !== -1 && to !== -1 ? order.slice(Math.min(from, to), Math.max(from, to) + 1) : [id]
  for (const each of ids) {
    if (isOn) next.add(each)
    else next.delete(each)
  }
  return next
}
