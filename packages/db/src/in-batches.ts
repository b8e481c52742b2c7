export interface Batches {
  /** Rows of a full batch: a smaller one is the last. */
  readonly size: number
  /** Cap of batches in one turn; the rest waits for the next turn. */
  readonly most: number
  /** Ends the turn after the batch in flight. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Repeats a statement that handles at most `size` rows until no rows are left or the turn ends.
 *
 * @param step - runs one batch and returns its number of rows
 * @returns the number of rows in all batches
 */
export async function inBatches({ size, most, signal }: Batches, step: (size: number) => Promise<number>): Promise<number> {
  let all = 0
  for (let turn = 0; turn < most; turn += 1) {
    if (signal?.aborted === true) break
    const count = await step(size)
    all += count
    if (count < size) break
  }
  return all
}
