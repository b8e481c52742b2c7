/** The addresses of the screens. Links are made with these only. */
const BASE = '/dashboard'

export const SANDBOX_TABS = ['timeline', 'monitoring', 'logs', 'terminal', 'files', 'processes', 'network', 'lineage'] as const
export type SandboxTab = (typeof SANDBOX_TABS)[number]

export const paths = {
  login: `${BASE}/login`,
  overview: `${BASE}/`,
  sandboxes: `${BASE}/sandboxes`,
  newSandbox: `${BASE}/sandboxes/new`,
  sandbox: (sandboxId: string, tab: SandboxTab = 'timeline') => `${BASE}/sandboxes/${sandboxId}/${tab}`,
  templates: `${BASE}/templates`,
  template: (templateId: string) => `${BASE}/templates/${templateId}`,
  builds: `${BASE}/builds`,
  build: (buildId: string) => `${BASE}/builds/${buildId}`,
  volumes: `${BASE}/volumes`,
  secrets: `${BASE}/secrets`,
  keys: `${BASE}/keys`,
  teams: `${BASE}/teams`,
  team: (teamId: string) => `${BASE}/teams/${teamId}`,
  webhooks: `${BASE}/webhooks`,
  webhook: (webhookId: string) => `${BASE}/webhooks/${webhookId}`,
  usage: `${BASE}/usage`,
  audit: `${BASE}/audit`,
  host: `${BASE}/host`,
} as const
