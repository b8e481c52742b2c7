import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { Prompt, Resource, ResourceTemplate, Tool } from '@modelcontextprotocol/sdk/types.js'

/** What a server offers. */
export interface Listings {
  readonly tools: readonly Tool[]
  readonly prompts: readonly Prompt[]
  readonly resources: readonly Resource[]
  readonly resourceTemplates: readonly ResourceTemplate[]
}

export const EMPTY: Listings = { tools: [], prompts: [], resources: [], resourceTemplates: [] }

const MAX_PAGES = 20
const LIST_TIMEOUT_MS = 20_000

/** Reads all lists that the server says it has. */
export async function readListings(client: Client): Promise<Listings> {
  const { tools, prompts, resources } = client.getServerCapabilities() ?? {}
  const options = { timeout: LIST_TIMEOUT_MS }
  const readTemplates = async (page: { cursor?: string }): Promise<Page<ResourceTemplate>> =>
    toPage(await client.listResourceTemplates(page, options), 'resourceTemplates')
  return {
    tools: tools === undefined ? [] : await allPages(async (page) => toPage(await client.listTools(page, options), 'tools')),
    prompts: prompts === undefined ? [] : await allPages(async (page) => toPage(await client.listPrompts(page, options), 'prompts')),
    resources:
      resources === undefined ? [] : await allPages(async (page) => toPage(await client.listResources(page, options), 'resources')),
    resourceTemplates:
      resources === undefined
        ? []
        : // Servers without such templates answer with an error, too.
          await allPages(readTemplates).catch(() => []),
  }
}

interface Page<Item> {
  readonly items: readonly Item[]
  readonly next: string | undefined
}

function toPage<Key extends string, Item>(
  answer: { readonly [key in Key]: Item[] } & { nextCursor?: string | undefined },
  key: Key,
): Page<Item> {
  return { items: answer[key], next: answer.nextCursor }
}

async function allPages<Item>(read: (page: { cursor?: string }) => Promise<Page<Item>>): Promise<Item[]> {
  const items: Item[] = []
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { items: more, next } = await read(cursor === undefined ? {} : { cursor })
    items.push(...more)
    if (next === undefined) break
    cursor = next
  }
  return items
}
