import type { DescMessage, DescMethod, DescService } from '@bufbuild/protobuf'
import { Filesystem } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { Process } from '@sandyard/daemon-protocol/process/process_pb'
import type { DaemonContext } from '../context.ts'
import { filesystemService } from '../filesystem/service.ts'
import { processService } from '../process/service.ts'
import { serveClientStream } from './client-stream.ts'
import type { RpcDeps, RpcHandler } from './rpc-deps.ts'
import type { ClientStreamHandler, ServerStreamHandler, ServiceHandlers, UnaryHandler } from './rpc-method.ts'
import { serveServerStream } from './server-stream.ts'
import { serveUnary } from './unary.ts'

/** All methods of both services, by path. */
export function connectHandlers(context: DaemonContext): ReadonlyMap<string, RpcHandler> {
  const { accounts, state, watchers, config } = context
  const handlers = new Map<string, RpcHandler>()
  function serve<S extends DescService>(service: S, implementation: ServiceHandlers<S>): void {
    for (const method of service.methods) {
      const handler: unknown = Reflect.get(implementation, method.localName)
      handlers.set(`/${service.typeName}/${method.name}`, serveMethod(method, handler, context))
    }
  }
  serve(Process, processService({ ...context, path: config.path }))
  serve(Filesystem, filesystemService({ accounts, defaults: state, watchers }))
  return handlers
}

/** `handler` is of the method's kind, as the type of its service says. */
function serveMethod(method: DescMethod, handler: unknown, deps: RpcDeps): RpcHandler {
  switch (method.methodKind) {
    case 'unary':
      return serveUnary(method, handler as UnaryHandler<DescMessage, DescMessage> | undefined, deps)
    case 'server_streaming':
      return serveServerStream(method, handler as ServerStreamHandler<DescMessage, DescMessage, unknown> | undefined, deps)
    case 'client_streaming':
      return serveClientStream(method, handler as ClientStreamHandler<DescMessage, DescMessage> | undefined, deps)
    case 'bidi_streaming':
      throw new Error(`${method.name} needs HTTP/2`)
  }
}
