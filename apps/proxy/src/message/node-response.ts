import { ServerResponse } from 'node:http'

/** The answer to a request that Node's HTTP server reads. */
export class NodeResponse extends ServerResponse {
  /** Sends the head as bytes. Node sends one that leaves without a body in UTF-8, and each byte above ASCII would become two. */
  override flushHeaders(): void {
    this.write('', 'latin1')
  }
}
