import type { WireRequest } from '../wire/exchange.ts'

export type ProcessMethod = 'Start' | 'Connect' | 'List' | 'Update' | 'StreamInput' | 'SendInput' | 'SendSignal' | 'CloseStdin'

/** A call of the process service. `"$a"` is replaced by the pid of stream `a`. */
export interface Call {
  readonly method: ProcessMethod
  /** The message, or an array for a stream of requests. A string is sent as the message, bytes as the whole body. */
  readonly message: object | string | Buffer
  readonly codec?: 'json' | 'proto'
  /** Replace default headers with the same name. */
  readonly headers?: WireRequest['headers']
  /** The order of the output lines is random. */
  readonly isUnordered?: boolean
  /** The deadline of the call ends the process; whether the client gets the deadline or the end is random. */
  readonly endsByTime?: boolean
}

export type Output = 'stdout' | 'stderr' | 'pty'

/** One action or wait of a client. */
export type ScriptStep =
  /** Begins a call in the background, and waits for its first message. */
  | { readonly do: 'open'; readonly as: string; readonly call: Call }
  /** Makes a call and waits for its end. */
  | { readonly do: 'ask'; readonly call: Call }
  /** Waits until a stream has ended, or has received a keepalive or a text. */
  | {
      readonly do: 'await'
      readonly stream: string
      readonly until: 'end' | 'keepalive' | { readonly output: Output; readonly text: string }
    }
  /** Waits until List does not return the process. */
  | { readonly do: 'gone'; readonly stream: string }
  /** Sends a message on an open stream of requests. */
  | { readonly do: 'send'; readonly stream: string; readonly message: object | Buffer }
  /** Ends a stream of requests. */
  | { readonly do: 'finish'; readonly stream: string }
  /** Closes the connection of the client. */
  | { readonly do: 'drop'; readonly stream: string }

export type Script = readonly ScriptStep[]
