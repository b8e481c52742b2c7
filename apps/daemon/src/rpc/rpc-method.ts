import type {
  DescMessage,
  DescMethod,
  DescMethodClientStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf'
import type { StreamCall, UnaryCall } from './stream-call.ts'

type Eventually<T> = T | Promise<T>

/** Calls have no deadline: they are short (envd.md 6.6). Failures are AppErrors. */
export type UnaryHandler<I extends DescMessage, O extends DescMessage> = (
  request: MessageShape<I>,
  call: UnaryCall,
) => Eventually<MessageInitShape<O>>

export interface ServerStreamHandler<I extends DescMessage, O extends DescMessage, E> {
  run(request: MessageShape<I>, call: StreamCall): Eventually<AsyncIterable<E>>
  /** The message that an event travels as. */
  toMessage(event: E): MessageInitShape<O>
  /** The same as JSON with all its zeros, where events are so many that a detour over messages would show. */
  toJson?(event: E): string
  /** The same in protobuf; undefined for an event that may go by way of its message. */
  toBinary?(event: E): Buffer | undefined
}

export type ClientStreamHandler<I extends DescMessage, O extends DescMessage> = (
  requests: AsyncIterable<MessageShape<I>>,
  call: StreamCall,
) => Promise<MessageInitShape<O>>

type HandlerOf<M extends DescMethod> =
  M extends DescMethodUnary<infer I, infer O>
    ? UnaryHandler<I, O>
    : M extends DescMethodServerStreaming<infer I, infer O>
      ? ServerStreamHandler<I, O, unknown>
      : M extends DescMethodClientStreaming<infer I, infer O>
        ? ClientStreamHandler<I, O>
        : never

/** The handlers of a service by its methods' names. What has none answers `unimplemented`. */
export type ServiceHandlers<S extends DescService> = { readonly [K in keyof S['method']]?: HandlerOf<S['method'][K]> }
