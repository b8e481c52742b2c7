import type Docker from 'dockerode'
import type { ContainerInfo } from 'dockerode'

/** Containers in one page: about 1 MiB of JSON, which is parsed without a pause. */
export const PAGE_SIZE = 500
/** More pages than a host can have containers for. */
const MAX_PAGES = 200

type Filters = Readonly<Record<string, readonly string[]>>

interface Page {
  readonly pageSize: number
  /** The previous page; absent for the first one. */
  readonly after?: readonly ContainerInfo[]
}

/**
 * Lists containers in any state, newest first, page by page. A container that exists during the whole call is listed exactly once.
 * Other containers may be created or removed meanwhile.
 */
export async function listContainers(docker: Docker, filters: Filters, pageSize: number = PAGE_SIZE): Promise<ContainerInfo[]> {
  const found = new Map<string, ContainerInfo>()
  let page = await readPage(docker, filters, { pageSize })
  for (let pages = 1; page.length >= pageSize; pages += 1) {
    if (pages > MAX_PAGES) throw new Error(`the engine has more than ${MAX_PAGES * pageSize} containers of ours`)
    for (const container of page) found.set(container.Id, container)
    page = await readPage(docker, filters, { pageSize, after: page })
  }
  for (const container of page) found.set(container.Id, container)
  return [...found.values()]
}

/** The engine rejects a page after a container that was removed meanwhile. Then the container before it is the start of the page. */
async function readPage(docker: Docker, filters: Filters, { pageSize, after = [] }: Page): Promise<ContainerInfo[]> {
  const read = (more: Filters): Promise<ContainerInfo[]> =>
    docker.listContainers({ all: true, limit: pageSize, filters: JSON.stringify({ ...filters, ...more }) })
  for (const { Id } of after.toReversed()) {
    try {
      return await read({ before: [Id] })
    } catch (err) {
      if (!(err instanceof Error) || !/no such container/i.test(err.message)) throw err
    }
  }
  return read({})
}
