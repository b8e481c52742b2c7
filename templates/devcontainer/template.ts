import { cp, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleDevcontainerEngine } from '@sandyard/devcontainer-engine/bundle'
import { Template } from 'e2b'

export const context = await mkdtemp(join(tmpdir(), 'devcontainer-'))
for (const name of ['bin', 'proot.patch']) await cp(join(import.meta.dirname, name), join(context, name), { recursive: true })
await bundleDevcontainerEngine(join(context, 'engine/engine.mjs'))

const executable = { user: 'root', mode: 0o755 } as const

/** The commands that betaDevContainerPrebuild and betaSetDevContainerStart of the SDK run (docs/devcontainer.md). */
export const template = Template({ fileContextPath: context })
  .fromTemplate('base')
  .aptInstall(['skopeo', 'libtalloc-dev', 'pkg-config'])
  .copy('proot.patch', '/opt/devcontainer/', { user: 'root' })
  .copy('bin/install-proot', '/opt/devcontainer/install-proot', executable)
  .runCmd('/opt/devcontainer/install-proot', { user: 'root' })
  .runCmd('npm install --prefix /opt/devcontainer/cli --no-audit --no-fund --ignore-scripts @devcontainers/cli@0.89.0', { user: 'root' })
  .copy('engine', '/opt/devcontainer/engine', { user: 'root' })
  .copy('bin/foreground', '/opt/devcontainer/foreground', executable)
  .copy('bin/docker', '/opt/devcontainer/engine/docker', executable)
  .copy('bin/docker-compose', '/opt/devcontainer/engine/docker-compose', executable)
  .copy('bin/devcontainer', '/usr/local/bin/devcontainer', executable)
  .copy('bin/prepare-exec.sh', '/prepare-exec.sh', executable)
