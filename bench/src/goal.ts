export interface Quantiles {
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/** A number of design.md that a row must reach. */
export interface Goal {
  /** The value to compare: our own value, or ours divided by the other. */
  readonly of: 'ours' | 'ratio'
  readonly at: readonly (keyof Quantiles)[]
  readonly atMost?: number
  readonly atLeast?: number
}

export function formatGoal({ of, at, atMost, atLeast }: Goal): string {
  const bound = atMost === undefined ? `>= ${atLeast}` : `<= ${Number(atMost.toPrecision(3))}`
  return `${of} ${at.join(' and ')} ${bound}`
}

/** Undefined when there is no value to compare with the goal. */
export function isMet(goal: Goal, measured: { readonly ours: Quantiles; readonly ratio?: Quantiles | undefined }): boolean | undefined {
  const values = measured[goal.of]
  if (values === undefined) return undefined
  return goal.at.every((quantile) => values[quantile] <= (goal.atMost ?? Infinity) && values[quantile] >= (goal.atLeast ?? -Infinity))
}
