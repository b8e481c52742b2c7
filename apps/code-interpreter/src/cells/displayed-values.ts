import type { IIOPubMessage } from '@jupyterlab/services/lib/kernel/messages.js'

const PRINTED: ReadonlySet<string> = new Set(['stream', 'error'])

/**
 * For a kernel that displays the values of a cell (R): the last one becomes the result of the cell, if nothing was printed after it. Plots do not
 * count, because the kernel sends them at the end. What code displays by itself has a `source`.
 */
export class DisplayedValues {
  #last: IIOPubMessage | undefined

  /** The messages to pass on now. A value waits for the next one, for printed text or for the end of the cell. */
  pass(message: IIOPubMessage): readonly IIOPubMessage[] {
    const type: string = message.header.msg_type
    const isValue = type === 'display_data' && !('source' in message.content)
    if (!isValue && !PRINTED.has(type)) return [message]
    const last = this.#last
    this.#last = isValue ? message : undefined
    return [...(last === undefined ? [] : [last]), ...(isValue ? [] : [message])]
  }

  /** What waits at the end of the cell: its result, if the kernel came to that end. */
  end(isComplete: boolean): readonly IIOPubMessage[] {
    const last = this.#last
    this.#last = undefined
    if (last === undefined) return []
    if (!isComplete) return [last]
    return [{ ...last, header: { ...last.header, msg_type: 'execute_result' } }]
  }
}
