import './native-base64.ts'
import { Code, ConnectError, type ConnectRouterOptions, createContextValues, type HandlerContext } from '@connectrpc/connect'
import { fastifyConnectPlugin } from '@connectrpc/connect-fastify'
import { compressionGzip } from '@connectrpc/connect-node'
import { Filesystem } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { Process } from '@sandyard/daemon-protocol/process/process_pb'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { DaemonContext } from '../context.ts'
import { filesystemService } from '../filesystem/service.ts'
import { processService, processStreams } from '../process/service.ts'
import { basicUserKey } from './basic-user-key.ts'
import { toStreamCall } from './connect-call.ts'
import { answerExactly } from './exact-responses.ts'
import { filesystemJsonOptions, jsonOptions } from './json-codec.ts'
import { mapErrors } from './map-errors.ts'
import { plainStream } from './plain-stream.ts'
import { requestGate } from './request-gate.ts'
import { SHUTTING_DOWN } from './stream-call.ts'

/** By path. */
export type RpcHandlers = ReadonlyMap<string, RpcHandler>
type RpcHandler = (request: FastifyRequest, reply: FastifyReply) => unknown

/** The wire has no limit; this one keeps a single message from taking the sandbox's memory. Files travel by other routes. */
const MAX_MESSAGE_BYTES = 128 * 1024 * 1024

/** Of Connect's three protocols. To be said for each service that has options of its own. */
const CONNECT_ONLY = { grpc: false, grpcWeb: false }

/** Connect's handlers for both services, as its plugin would register them with a Fastify that has not started yet. */
export function connectHandlers(context: DaemonContext): RpcHandlers {
  const handlers = new Map<string, RpcHandler>()
  const collector = {
    addContentTypeParser: () => undefined,
    all: (path: string, _options: object, handler: (request: FastifyRequest, reply: FastifyReply) => unknown) =>
      handlers.set(path, handler),
  }
  const options = {
    ...routerOptions(context),
    contextValues: (request: FastifyRequest) => createContextValues().set(basicUserKey, request.basicUser),
  }
  fastifyConnectPlugin(collector as unknown as FastifyInstance, options, () => undefined)

  const library = (path: string): RpcHandler => handlers.get(path) ?? (() => undefined)
  const streams = processStreams({ ...context, path: context.config.path })
  handlers.set('/process.Process/Start', plainStream(streams.start, context, library('/process.Process/Start')))
  handlers.set('/process.Process/Connect', plainStream(streams.connect, context, library('/process.Process/Connect')))
  return handlers
}

function routerOptions(context: DaemonContext): ConnectRouterOptions & Parameters<typeof fastifyConnectPlugin>[1] {
  const { accounts, state, config } = context
  const basicUser = (call: HandlerContext) => call.values.get(basicUserKey)
  return {
    ...CONNECT_ONLY,
    acceptCompression: [compressionGzip],
    readMaxBytes: MAX_MESSAGE_BYTES,
    requireConnectProtocolHeader: config.requireConnectProtocolHeader,
    jsonOptions,
    requestGate,
    interceptors: [mapErrors(context.log)],
    shutdownSignal: toShutdownSignal(context.shutdown),
    routes(router) {
      router.service(Process, processService({ ...context, path: config.path }, toStreamCall))
      router.service(Filesystem, filesystemService({ accounts, defaults: state, basicUser }), {
        ...CONNECT_ONLY,
        jsonOptions: filesystemJsonOptions,
      })
      answerExactly(router)
    },
  }
}

/** The library passes the reason of an abort on to clients. */
function toShutdownSignal(shutdown: AbortSignal): AbortSignal {
  const controller = new AbortController()
  shutdown.addEventListener('abort', () => controller.abort(new ConnectError(SHUTTING_DOWN[1], Code.Unavailable)))
  return controller.signal
}
