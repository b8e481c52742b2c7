import type { Quantiles } from './report.ts'

/** A number of design.md that a row must reach. */
export interface Goal {
  /** Of what: our own value, or ours divided by the other. */
  readonly of: 'ours' | 'ratio'
  readonly at: readonly (keyof Quantiles)[]
  readonly atMost?: number
  readonly atLeast?: number
}

export function formatGoal({ of, at, atMost, atLeast }: Goal): string {
  const bound = atMost === undefined ? `>= ${atLeast}` : `<= ${Number(atMost.toPrecision(3))}`
  return `${of} ${at.join(' and ')} ${bound}`
}

/** Undefined where there is nothing to hold against the goal. */
export function isMet(goal: Goal, measured: { readonly ours: Quantiles; readonly ratio?: Quantiles | undefined }): boolean | undefined {
  const values = measured[goal.of]
  if (values === undefined) return undefined
  return goal.at.every((quantile) => values[quantile] <= (goal.atMost ?? Infinity) && values[quantile] >= (goal.atLeast ?? -Infinity))
}
