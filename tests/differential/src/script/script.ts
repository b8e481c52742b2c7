import type { WireRequest } from '../wire/exchange.ts'

export type ProcessMethod = 'Start' | 'Connect' | 'List' | 'Update' | 'StreamInput' | 'SendInput' | 'SendSignal' | 'CloseStdin'

/** A call of the process service. `"$a"` in place of a pid stands for the pid that stream `a` began with. */
export interface Call {
  readonly method: ProcessMethod
  /** Several for a stream of requests; a text goes as the message, bytes go as the whole body. */
  readonly message: object | string | Buffer
  readonly codec?: 'json' | 'proto'
  /** Take the place of those of the same name. */
  readonly headers?: WireRequest['headers']
  /** The lines of the output come in no order. */
  readonly isUnordered?: boolean
  /** The time of the call ends the process, and which of the two is seen first is chance. */
  readonly endsByTime?: boolean
}

export type Output = 'stdout' | 'stderr' | 'pty'

/** One thing that a client does, or waits for. */
export type ScriptStep =
  /** Begins a call that goes on in the background, and waits for its first message. */
  | { readonly do: 'open'; readonly as: string; readonly call: Call }
  /** A call to its end. */
  | { readonly do: 'ask'; readonly call: Call }
  /** Waits until a stream has ended, has brought a keepalive, or has brought a text. */
  | {
      readonly do: 'await'
      readonly stream: string
      readonly until: 'end' | 'keepalive' | { readonly output: Output; readonly text: string }
    }
  /** Waits until the process is not listed any more. */
  | { readonly do: 'gone'; readonly stream: string }
  /** A further message of a stream of requests that was opened without any. */
  | { readonly do: 'send'; readonly stream: string; readonly message: object | Buffer }
  /** The end of a stream of requests. */
  | { readonly do: 'finish'; readonly stream: string }
  /** The client goes away. */
  | { readonly do: 'drop'; readonly stream: string }

export type Script = readonly ScriptStep[]
