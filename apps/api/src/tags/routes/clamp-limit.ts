export interface PageLimits {
  readonly default: number
  readonly most: number
}

/** How many items a page has where what is out of bounds is no error (clients-python-2.63.md 7). */
export function clampLimit(asked: number | undefined, { default: usual, most }: PageLimits): number {
  return Math.min(Math.max(asked ?? usual, 1), most)
}
