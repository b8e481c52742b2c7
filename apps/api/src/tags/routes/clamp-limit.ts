export interface PageLimits {
  readonly default: number
  readonly most: number
}

/** The page size for operations that clamp values instead of refusing them (clients-python-2.63.md 7). */
export function clampLimit(asked: number | undefined, { default: usual, most }: PageLimits): number {
  return Math.min(Math.max(asked ?? usual, 1), most)
}
