import './native-base64.ts'
import type { DescMessage, DescMethodUnary, DescService } from '@bufbuild/protobuf'
import { Code, ConnectError, type ConnectRouterOptions, createContextValues, type HandlerContext } from '@connectrpc/connect'
import { fastifyConnectPlugin } from '@connectrpc/connect-fastify'
import { compressionGzip } from '@connectrpc/connect-node'
import { Filesystem } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { Process } from '@sandyard/daemon-protocol/process/process_pb'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { DaemonContext } from '../context.ts'
import { filesystemService } from '../filesystem/service.ts'
import { processService, processStreams } from '../process/service.ts'
import { basicUserKey } from './basic-user-key.ts'
import { toStreamCall } from './connect-call.ts'
import { answerExactly } from './exact-responses.ts'
import { filesystemJsonOptions, jsonOptions } from './json-codec.ts'
import { mapErrors } from './map-errors.ts'
import type { RpcHandler } from './plain-deps.ts'
import { plainStream } from './plain-stream.ts'
import { plainUnary, type PlainUnaryMethod } from './plain-unary.ts'
import { requestGate } from './request-gate.ts'
import { SHUTTING_DOWN } from './stream-call.ts'

/** By path. */
export type RpcHandlers = ReadonlyMap<string, RpcHandler>

type Implementation = Readonly<Record<string, unknown>>
type PluginOptions = Parameters<typeof fastifyConnectPlugin>[1]

/** The wire has no limit; this one keeps a single message from taking the sandbox's memory. Files travel by other routes. */
const MAX_MESSAGE_BYTES = 128 * 1024 * 1024

/** Of Connect's three protocols. To be said for each service that has options of its own. */
const CONNECT_ONLY = { grpc: false, grpcWeb: false }

/** All handlers: the library's, and before them the short way for what SDKs send. */
export function connectHandlers(context: DaemonContext): RpcHandlers {
  const { accounts, state } = context
  const deps = { ...context, path: context.config.path }
  const basicUser = (call: HandlerContext) => call.values.get(basicUserKey)
  const process = processService(deps, toStreamCall)
  const filesystem = filesystemService({ accounts, defaults: state, basicUser })

  const handlers = libraryHandlers(context, (router) => {
    router.service(Process, process)
    router.service(Filesystem, filesystem, { ...CONNECT_ONLY, jsonOptions: filesystemJsonOptions })
  })
  function shorten(path: string, toPlain: (library: RpcHandler) => RpcHandler): void {
    const library = handlers.get(path)
    if (library !== undefined) handlers.set(path, toPlain(library))
  }
  const streams = processStreams(deps)
  shorten('/process.Process/Start', (library) => plainStream(streams.start, context, library))
  shorten('/process.Process/Connect', (library) => plainStream(streams.connect, context, library))
  for (const [path, method] of [...unaryMethods(Process, process), ...unaryMethods(Filesystem, filesystem)]) {
    shorten(path, (library) => plainUnary(method, context, library))
  }
  return handlers
}

/** Connect's handlers, as its plugin would register them with a Fastify that has not started yet. */
function libraryHandlers(context: DaemonContext, services: NonNullable<PluginOptions['routes']>): Map<string, RpcHandler> {
  const handlers = new Map<string, RpcHandler>()
  const collector = {
    addContentTypeParser: () => undefined,
    all: (path: string, _options: object, handler: RpcHandler) => handlers.set(path, handler),
  }
  const options: ConnectRouterOptions & PluginOptions = {
    ...CONNECT_ONLY,
    acceptCompression: [compressionGzip],
    readMaxBytes: MAX_MESSAGE_BYTES,
    requireConnectProtocolHeader: context.config.requireConnectProtocolHeader,
    jsonOptions,
    requestGate,
    interceptors: [mapErrors(context.log)],
    shutdownSignal: toShutdownSignal(context.shutdown),
    contextValues: (request: FastifyRequest) => createContextValues().set(basicUserKey, request.basicUser),
    routes(router) {
      services(router)
      answerExactly(router)
    },
  }
  fastifyConnectPlugin(collector as unknown as FastifyInstance, options, () => undefined)
  return handlers
}

/** The unary methods that a service implements, by path. Of a call its handlers look at the user and the signal only. */
function unaryMethods(service: DescService, implementation: Implementation): [string, PlainUnaryMethod<DescMessage, DescMessage>][] {
  return service.methods.flatMap((method) => {
    const handler = implementation[method.localName]
    if (method.methodKind !== 'unary' || typeof handler !== 'function') return []
    const run: PlainUnaryMethod<DescMessage, DescMessage>['run'] = (request, { signal, basicUser }) =>
      handler(request, { signal, values: createContextValues().set(basicUserKey, basicUser) })
    return [[`/${service.typeName}/${method.name}`, { method: method as DescMethodUnary, run }]]
  })
}

/** The library passes the reason of an abort on to clients. */
function toShutdownSignal(shutdown: AbortSignal): AbortSignal {
  const controller = new AbortController()
  shutdown.addEventListener('abort', () => controller.abort(new ConnectError(SHUTTING_DOWN[1], Code.Unavailable)))
  return controller.signal
}
