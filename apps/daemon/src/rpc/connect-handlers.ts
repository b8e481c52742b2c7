import './native-base64.ts'
import type { DescService } from '@bufbuild/protobuf'
import { Code, ConnectError, type ConnectRouter, createContextValues, type MethodImpl, type ServiceImpl } from '@connectrpc/connect'
import { fastifyConnectPlugin } from '@connectrpc/connect-fastify'
import { Filesystem } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { Process } from '@sandyard/daemon-protocol/process/process_pb'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import type { DaemonContext } from '../context.ts'
import { takeReceivedBody } from '../http/received-body.ts'
import { filesystemService } from '../filesystem/service.ts'
import { processService } from '../process/service.ts'
import { gzipCompression } from './compression.ts'
import { jsonOptions } from './json-text.ts'
import { discardBody, readBody } from './request-body.ts'
import { blameClient, mapFailures } from './rpc-error.ts'
import { LONGEST_TIMER_MS } from './request-headers.ts'
import { RPC_METHODS } from './rpc-methods.ts'
import { HTTP_REQUEST } from './stream-call.ts'

export type RpcHandler = (request: FastifyRequest, reply: FastifyReply) => void

const TAKEN_TYPES: ReadonlySet<string> = new Set(['application/json', 'application/json; charset=utf-8', 'application/proto'])
const MIB = 1024 * 1024
/**
 * The maximum size of a message. The wire has no limits; these protect the sandbox's memory. Files use other routes, the longest path is
 * 4 KiB, and input of a process may be long.
 */
const maxBytesOf = (service: string): number => (service === Process.typeName ? 32 : 1) * MIB

/** All methods of both services, by path, as the library's plugin for Fastify serves them. */
export function connectHandlers(context: DaemonContext): ReadonlyMap<string, RpcHandler> {
  const { accounts, state, watchers, config } = context
  const handlers = new Map<string, RpcHandler>()
  // The plugin is loaded after the server has begun to listen, when Fastify accepts no new routes. The existing routes call its handlers.
  const routes = {
    all: (path: string, _options: object, handler: RouteHandlerMethod) => handlers.set(path, toHandler(path, handler)),
    addContentTypeParser: () => undefined,
  }
  const options: Parameters<typeof fastifyConnectPlugin>[1] = {
    // HTTP/2 is ended in front of the daemon, and gRPC needs it.
    grpc: false,
    acceptCompression: [gzipCompression],
    requireConnectProtocolHeader: config.requireConnectProtocolHeader,
    maxTimeoutMs: LONGEST_TIMER_MS,
    shutdownSignal: context.shutdown,
    interceptors: [mapFailures(context.log)],
    contextValues: (request) => createContextValues().set(HTTP_REQUEST, request),
    async requestGate({ values }) {
      const user = values.get(HTTP_REQUEST)?.basicUser
      if (user === undefined || (await accounts.lookupUser(user)) !== undefined) return
      await discardBody(values.get(HTTP_REQUEST)?.raw)
      throw new ConnectError(`invalid username: '${user}'`, Code.Unauthenticated)
    },
    routes(router) {
      addService(router, Process, processService({ ...context, path: config.path }))
      addService(router, Filesystem, filesystemService({ accounts, defaults: state, watchers }))
      router.handlers.splice(0, Infinity, ...router.handlers.map(blameClient))
    },
  }
  fastifyConnectPlugin(routes as unknown as FastifyInstance, options, () => undefined)
  return handlers
}

/** Registers each method separately, since its options depend on the kind of the method. */
function addService<S extends DescService>(router: ConnectRouter, service: S, implementation: ServiceImpl<S>): void {
  for (const method of service.methods) {
    const options = { readMaxBytes: maxBytesOf(service.typeName), jsonOptions: jsonOptions(method) }
    router.rpc(method, Reflect.get(implementation, method.localName) as MethodImpl<typeof method>, options)
  }
}

function toHandler(path: string, handler: RouteHandlerMethod): RpcHandler {
  const kind = RPC_METHODS.get(path) ?? 'unary'
  const maxBytes = maxBytesOf(path.slice(1, path.lastIndexOf('/')))
  return (request, reply) => {
    // The plugin writes to the response itself; its promise may never settle.
    reply.hijack()
    // An unread rest of the body would block the next request of the connection.
    reply.raw.once('finish', () => request.raw.readableEnded || request.raw.resume())
    const serve = (body: unknown): void => {
      request.body = body ?? readBody(request.raw, kind, maxBytes)
      void handler.call(request.server, request, reply)
    }
    if (mayTakeBody(request)) takeReceivedBody(request.raw).then(serve, () => reply.raw.destroy())
    else serve(undefined)
  }
}

/** The library reads the message of a unary call from bytes too, unless they are compressed. gRPC-Web has envelopes, which it reads from a stream. */
function mayTakeBody({ raw: { headers } }: FastifyRequest): boolean {
  return TAKEN_TYPES.has(headers['content-type'] ?? '') && headers['content-encoding'] === undefined
}
