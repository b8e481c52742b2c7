import { cp, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleMcpGateway } from '@sandyard/mcp-gateway/bundle'
import { Template } from 'e2b'

export const context = await mkdtemp(join(tmpdir(), 'mcp-gateway-'))
await cp(join(import.meta.dirname, 'bin'), join(context, 'bin'), { recursive: true })
await bundleMcpGateway(join(context, 'server/gateway.mjs'))

/** The command `mcp-gateway`, which clients run as root after a create with `mcp` (docs/mcp-gateway.md). Servers are installed when they are first named. */
export const template = Template({ fileContextPath: context })
  .fromTemplate('base')
  .copy('server', '/opt/mcp-gateway', { user: 'root' })
  .copy('bin/mcp-gateway', '/usr/local/bin/mcp-gateway', { user: 'root', mode: 0o755 })
  .makeDir(['/etc/mcp-gateway', '/opt/mcp-gateway/servers'], { user: 'root', mode: 0o755 })
