import { ServerResponse } from 'node:http'

type Written = (err: Error | null | undefined) => void

/** What Node's class has of its head. */
interface SentHead {
  readonly _headerSent: boolean
  /** Only whether it is empty is of use when it was sent. */
  readonly _header: string | null
}

/** The answer to a request that Node's HTTP server reads. */
export class NodeResponse extends ServerResponse {
  /** Sends the head as bytes. Node sends one that leaves without a body in UTF-8, and each byte above ASCII would become two. */
  override flushHeaders(): void {
    this.write('', 'latin1')
  }

  override write(chunk: unknown, written?: Written): boolean
  override write(chunk: unknown, encoding: BufferEncoding, written?: Written): boolean
  override write(chunk: unknown, encoding?: BufferEncoding | Written, written?: Written): boolean {
    const mayGoOn = super.write(chunk, encoding as BufferEncoding, written)
    const head = this as unknown as SentHead
    // Node keeps the text until the answer ends. Heads may be large, and answers may last.
    if (head._headerSent) Object.assign(head, { _header: 'sent', statusMessage: '' })
    return mayGoOn
  }
}
