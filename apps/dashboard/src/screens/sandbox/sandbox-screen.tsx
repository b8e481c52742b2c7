import type { SandboxDetail } from '@sandyard/dashboard-contract/sandboxes'
import { useRoute } from 'preact-iso/router'
import { ApiFailure } from '../../api/api-failure.ts'
import { call } from '../../api/call.ts'
import { useCall } from '../../api/use-call.ts'
import { lazyScreen } from '../../frame/lazy-screen.ts'
import { paths, SANDBOX_TABS, type SandboxTab } from '../../frame/paths.ts'
import { useTopic } from '../../live/use-topic.ts'
import { ErrorBoundary } from '../../parts/error-boundary.tsx'
import { sandboxTexts as texts } from '../../texts/sandbox-texts.ts'
import '../../styles/sandbox.css'
import { SandboxHeader } from './sandbox-header.tsx'
import type { SandboxTabProps } from './sandbox-tab.ts'
import '../../styles/details.css'

const TABS = {
  timeline: lazyScreen<SandboxTabProps>(() => import('./timeline/timeline-tab.tsx').then(({ TimelineTab }) => TimelineTab)),
  monitoring: lazyScreen<SandboxTabProps>(() => import('./monitoring/monitoring-tab.tsx').then(({ MonitoringTab }) => MonitoringTab)),
  logs: lazyScreen<SandboxTabProps>(() => import('./logs/logs-tab.tsx').then(({ LogsTab }) => LogsTab)),
  terminal: lazyScreen<SandboxTabProps>(() => import('./terminal/terminal-tab.tsx').then(({ TerminalTab }) => TerminalTab)),
  files: lazyScreen<SandboxTabProps>(() => import('./files/files-tab.tsx').then(({ FilesTab }) => FilesTab)),
  processes: lazyScreen<SandboxTabProps>(() => import('./processes/processes-tab.tsx').then(({ ProcessesTab }) => ProcessesTab)),
  network: lazyScreen<SandboxTabProps>(() => import('./network/network-tab.tsx').then(({ NetworkTab }) => NetworkTab)),
  lineage: lazyScreen<SandboxTabProps>(() => import('./lineage/lineage-tab.tsx').then(({ LineageTab }) => LineageTab)),
} as const

const replaceDetail = (_: SandboxDetail, detail: SandboxDetail): SandboxDetail => detail

export function SandboxScreen() {
  const { params } = useRoute()
  const sandboxId = params['sandboxId'] ?? ''
  const tab = tabOf(params['tab'])
  return <OneSandbox key={sandboxId} sandboxId={sandboxId} tab={tab} />
}

function OneSandbox({ sandboxId, tab }: { readonly sandboxId: string; readonly tab: SandboxTab }) {
  const loaded = useCall(sandboxId, (signal) => call('GET /sandboxes/{sandboxId}', { params: { sandboxId }, signal }))
  const live = useTopic<'sandbox'>(`sandbox:${sandboxId}`, replaceDetail)
  const sandbox = live.value ?? loaded.value
  if (sandbox === undefined) {
    if (loaded.failure === undefined) return <p class="empty">{texts.loading}</p>
    return (
      <div class="stack">
        <h1 class="sandbox-id">{sandboxId}</h1>
        <p class="notice notice-failed" role="alert">
          {loaded.failure instanceof ApiFailure && loaded.failure.status === 404 ? texts.gone : loaded.failure.message}
        </p>
        <p>
          <a href={paths.sandboxes}>{texts.back}</a>
        </p>
      </div>
    )
  }
  const Tab = TABS[tab]
  return (
    <div class="sandbox">
      <SandboxHeader sandbox={sandbox} onDone={loaded.reload} />
      <nav class="tabs" aria-label={texts.tabsLabel}>
        {SANDBOX_TABS.map((name) => (
          <a key={name} href={paths.sandbox(sandboxId, name)} aria-current={name === tab ? 'page' : undefined}>
            {texts.tabs[name]}
          </a>
        ))}
      </nav>
      <ErrorBoundary key={tab} name={texts.tabs[tab]}>
        <section class={`tab tab-${tab}`} aria-label={texts.tabs[tab]}>
          <Tab sandbox={sandbox} />
        </section>
      </ErrorBoundary>
    </div>
  )
}

function tabOf(name: string | undefined): SandboxTab {
  return SANDBOX_TABS.find((tab) => tab === name) ?? 'timeline'
}
