import './native-base64.ts'
import { Code, ConnectError, createContextValues } from '@connectrpc/connect'
import { fastifyConnectPlugin } from '@connectrpc/connect-fastify'
import { compressionGzip } from '@connectrpc/connect-node'
import { Filesystem } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { Process } from '@sandyard/daemon-protocol/process/process_pb'
import type { FastifyInstance } from 'fastify'
import type { DaemonContext } from '../context.ts'
import { filesystemService } from '../filesystem/service.ts'
import { processService } from '../process/service.ts'
import { basicUserKey } from './basic-user-key.ts'
import { answerExactly } from './exact-responses.ts'
import { filesystemJsonOptions, jsonOptions } from './json-codec.ts'
import { mapErrors } from './map-errors.ts'
import { normaliseHeaders, requestGate } from './request-gate.ts'

/** The wire has no limit; this one keeps a single message from taking the sandbox's memory. Files travel by other routes. */
const MAX_MESSAGE_BYTES = 128 * 1024 * 1024

/** The two Connect services, each in a scope of its own: its body parsers must not reach the REST routes. */
export function registerServices(app: FastifyInstance, context: DaemonContext): void {
  app.register((scope, _options, done) => {
    scope.addHook('onRequest', async (request) => normaliseHeaders(request.raw))
    // Only POST is routed to Connect, which asks for every method: the others get the answer of all known paths.
    const postOnly = Object.create(scope, { all: { value: scope.post.bind(scope) } }) as FastifyInstance
    fastifyConnectPlugin(
      postOnly,
      {
        grpc: false,
        acceptCompression: [compressionGzip],
        readMaxBytes: MAX_MESSAGE_BYTES,
        requireConnectProtocolHeader: context.config.requireConnectProtocolHeader,
        jsonOptions,
        requestGate,
        interceptors: [mapErrors(context.log)],
        shutdownSignal: toShutdownSignal(context.shutdown),
        contextValues: (request) => createContextValues().set(basicUserKey, request.basicUser),
        routes(router) {
          router.service(Process, processService({ ...context, path: context.config.path }))
          router.service(Filesystem, filesystemService(filesystemDeps(context)), { jsonOptions: filesystemJsonOptions })
          answerExactly(router)
        },
      },
      done,
    )
  })
}

function filesystemDeps({ accounts, state }: DaemonContext) {
  return {
    accounts,
    defaults: state,
    basicUser: (call: { values: { get(key: typeof basicUserKey): string | undefined } }) => call.values.get(basicUserKey),
  }
}

/** Streams that end because the daemon does say so in a code that makes clients look whether the sandbox is still there. */
function toShutdownSignal(shutdown: AbortSignal): AbortSignal {
  const controller = new AbortController()
  shutdown.addEventListener('abort', () => controller.abort(new ConnectError('the sandbox is shutting down', Code.Unavailable)))
  return controller.signal
}
