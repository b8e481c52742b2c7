import { useEffect } from 'preact/hooks'
import { Route, Router, useLocation } from 'preact-iso/router'
import { frameTexts } from '../texts/frame-texts.ts'
import { lazyScreen } from './lazy-screen.ts'
import { paths } from './paths.ts'

const Overview = lazyScreen(() => import('../screens/overview/overview-screen.tsx').then(({ OverviewScreen }) => OverviewScreen))
const Sandboxes = lazyScreen(() => import('../screens/sandboxes/sandboxes-screen.tsx').then(({ SandboxesScreen }) => SandboxesScreen))
const NewSandbox = lazyScreen(() =>
  import('../screens/new-sandbox/new-sandbox-screen.tsx').then(({ NewSandboxScreen }) => NewSandboxScreen),
)
const Sandbox = lazyScreen(() => import('../screens/sandbox/sandbox-screen.tsx').then(({ SandboxScreen }) => SandboxScreen))
const Templates = lazyScreen(() => import('../screens/templates/templates-screen.tsx').then(({ TemplatesScreen }) => TemplatesScreen))
const Template = lazyScreen(() => import('../screens/templates/template-screen.tsx').then(({ TemplateScreen }) => TemplateScreen))
const Builds = lazyScreen(() => import('../screens/builds/builds-screen.tsx').then(({ BuildsScreen }) => BuildsScreen))
const Build = lazyScreen(() => import('../screens/builds/build-screen.tsx').then(({ BuildScreen }) => BuildScreen))
const Volumes = lazyScreen(() => import('../screens/volumes/volumes-screen.tsx').then(({ VolumesScreen }) => VolumesScreen))
const Secrets = lazyScreen(() => import('../screens/secrets/secrets-screen.tsx').then(({ SecretsScreen }) => SecretsScreen))
const Keys = lazyScreen(() => import('../screens/keys/keys-screen.tsx').then(({ KeysScreen }) => KeysScreen))
const Teams = lazyScreen(() => import('../screens/teams/teams-screen.tsx').then(({ TeamsScreen }) => TeamsScreen))
const Team = lazyScreen(() => import('../screens/teams/team-screen.tsx').then(({ TeamScreen }) => TeamScreen))
const Webhooks = lazyScreen(() => import('../screens/webhooks/webhooks-screen.tsx').then(({ WebhooksScreen }) => WebhooksScreen))
const Webhook = lazyScreen(() => import('../screens/webhooks/webhook-screen.tsx').then(({ WebhookScreen }) => WebhookScreen))
const Usage = lazyScreen(() => import('../screens/usage/usage-screen.tsx').then(({ UsageScreen }) => UsageScreen))
const Audit = lazyScreen(() => import('../screens/audit/audit-screen.tsx').then(({ AuditScreen }) => AuditScreen))
const Host = lazyScreen(() => import('../screens/host/host-screen.tsx').then(({ HostScreen }) => HostScreen))

/** Every screen is a file of its own that is loaded when it is opened. */
export function Routes() {
  return (
    <Router onRouteChange={arrive} onLoadEnd={arrive}>
      <Route path="/dashboard/login" component={ToOverview} />
      <Route path="/dashboard/" component={Overview} />
      <Route path="/dashboard/sandboxes" component={Sandboxes} />
      <Route path="/dashboard/sandboxes/new" component={NewSandbox} />
      <Route path="/dashboard/sandboxes/:sandboxId/:tab?" component={Sandbox} />
      <Route path="/dashboard/templates" component={Templates} />
      <Route path="/dashboard/templates/:templateId" component={Template} />
      <Route path="/dashboard/builds" component={Builds} />
      <Route path="/dashboard/builds/:buildId" component={Build} />
      <Route path="/dashboard/volumes" component={Volumes} />
      <Route path="/dashboard/secrets" component={Secrets} />
      <Route path="/dashboard/keys" component={Keys} />
      <Route path="/dashboard/teams" component={Teams} />
      <Route path="/dashboard/teams/:teamId" component={Team} />
      <Route path="/dashboard/webhooks" component={Webhooks} />
      <Route path="/dashboard/webhooks/:webhookId" component={Webhook} />
      <Route path="/dashboard/usage" component={Usage} />
      <Route path="/dashboard/audit" component={Audit} />
      <Route path="/dashboard/host" component={Host} />
      <Route default component={NotFound} />
    </Router>
  )
}

function NotFound() {
  return (
    <div class="stack">
      <h1>{frameTexts.notFound}</h1>
      <p>
        <a href={paths.overview}>{frameTexts.toOverview}</a>
      </p>
    </div>
  )
}

/** The login of somebody who is logged in. */
function ToOverview() {
  const { route } = useLocation()
  useEffect(() => route(paths.overview, true), [])
  return null
}

let arrivedAt = location.pathname

/** Another screen: its heading is the title of the tab, and the focus is where the screen begins. Tabs inside a screen keep the focus. */
function arrive(): void {
  requestAnimationFrame(() => {
    const heading = document.querySelector('main h1')?.textContent ?? ''
    document.title = heading === '' ? frameTexts.title : `${heading} · ${frameTexts.title}`
    const screen = (path: string): string => path.split('/').slice(0, 4).join('/')
    if (screen(arrivedAt) !== screen(location.pathname)) document.querySelector<HTMLElement>('#main')?.focus({ preventScroll: true })
    arrivedAt = location.pathname
  })
}
