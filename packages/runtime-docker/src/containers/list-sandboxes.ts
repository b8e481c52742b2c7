import type { RuntimeSandbox } from '@sandyard/runtime/types'
import type Docker from 'dockerode'
import { refOf, type sandboxFilter } from '../labels.ts'
import { runtimeState } from './container-state.ts'
import { listContainers } from './list-containers.ts'
import { isReplaced } from './stuck-container.ts'

/** The sandboxes of the filter, each once: a container whose place another one has taken is left out. */
export async function listSandboxes(docker: Docker, filter: ReturnType<typeof sandboxFilter>): Promise<RuntimeSandbox[]> {
  const containers = await listContainers(docker, filter)
  const names = new Set(containers.flatMap(({ Names }) => Names))
  return containers.flatMap(({ Labels, State, Created, Names }) => {
    const ref = refOf(Labels)
    if (ref === undefined || isReplaced(Names, names)) return []
    return [{ ...ref, state: runtimeState(State), createdAt: new Date(Created * 1000) }]
  })
}
