import { useLocation } from 'preact-iso/router'
import type { Overview } from '@sandyard/dashboard-contract/overview'
import { call } from '../../api/call.ts'
import { useCall } from '../../api/use-call.ts'
import { paths } from '../../frame/paths.ts'
import { Ago } from '../../parts/ago.tsx'
import { FailureNotice } from '../../parts/failure-notice.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Meter } from '../../parts/meter.tsx'
import { Panel } from '../../parts/panel.tsx'
import { durationText } from '../../parts/time-text.ts'
import { overviewTexts as texts } from '../../texts/overview-texts.ts'
import { frameTexts } from '../../texts/frame-texts.ts'
import { Events } from './events.tsx'
import { RunningChart } from './running-chart.tsx'
import { Welcome } from './welcome.tsx'
import '../../styles/overview.css'

const HOURS = { '1h': 1, '6h': 6, '24h': 24, '7d': 168 } as const
type Range = keyof typeof HOURS
const RANGES = Object.keys(HOURS) as readonly Range[]

export function OverviewScreen() {
  const { query, route } = useLocation()
  const range = RANGES.find((name) => name === query['range']) ?? '24h'
  const { value, failure, reload } = useCall(range, (signal) => call('GET /overview', { query: { range }, signal }))
  return (
    <>
      <div class="page-head">
        <h1>{texts.title}</h1>
        <div class="actions">
          <div class="button-group" role="group" aria-label={texts.range}>
            {RANGES.map((name) => (
              <button
                key={name}
                type="button"
                class="button"
                aria-pressed={name === range}
                onClick={() => route(`${paths.overview}?range=${name}`, true)}
              >
                {name}
              </button>
            ))}
          </div>
          <a class="button button-primary" href={paths.newSandbox}>
            <Icon name="plus" />
            {frameTexts.newSandbox}
          </a>
        </div>
      </div>
      <FailureNotice failure={failure} onRetry={reload} />
      {value === undefined ? (
        failure === undefined && <div class="skeleton overview-skeleton" />
      ) : (
        <Figures overview={value} hours={HOURS[range]} />
      )}
      <div class="columns">
        <Panel title={texts.events} isFlush>
          <Events reload={reload} />
        </Panel>
        {value !== undefined && (
          <div class="stack">
            <FailedBuilds builds={value.failedBuilds} />
            {value.unserved.length > 0 && <Unserved unserved={value.unserved} />}
          </div>
        )}
      </div>
    </>
  )
}

function Figures({ overview, hours }: { readonly overview: Overview; readonly hours: number }) {
  const { counts, series, startsInRange, createMs } = overview
  const isNew = counts.running + counts.paused + counts.starting + startsInRange === 0
  const rate = startsInRange / hours
  return (
    <>
      {isNew && <Welcome />}
      <dl class="figures">
        <Figure name={texts.running} href={`${paths.sandboxes}?state=running`} value={String(counts.running)}>
          {texts.ofLimit(counts.limit)} <Meter share={counts.running / counts.limit} />
        </Figure>
        <Figure name={texts.paused} href={`${paths.sandboxes}?state=paused`} value={String(counts.paused)} />
        <Figure name={texts.starts} value={String(startsInRange)}>
          {texts.perHour(rate >= 10 || Number.isInteger(rate) ? String(Math.round(rate)) : rate.toFixed(1))}
        </Figure>
        <Figure name={texts.createTime} value={createMs === null ? '–' : durationText(createMs.p50)}>
          {createMs === null ? texts.noCreates : texts.p95(durationText(createMs.p95))}
        </Figure>
      </dl>
      {!isNew && (
        <Panel title={texts.chart}>
          <RunningChart series={series} />
        </Panel>
      )}
    </>
  )
}

interface FigureProps {
  readonly name: string
  readonly value: string
  readonly href?: string
  readonly children?: preact.ComponentChildren
}

function Figure({ name, value, href, children }: FigureProps) {
  return (
    <div class="panel figure">
      <dt>{href === undefined ? name : <a href={href}>{name}</a>}</dt>
      <dd>
        <b class="number">{value}</b>
        {children !== undefined && <span class="muted small">{children}</span>}
      </dd>
    </div>
  )
}

function FailedBuilds({ builds }: { readonly builds: Overview['failedBuilds'] }) {
  return (
    <Panel title={texts.failedBuilds} isFlush actions={<a href={`${paths.builds}?status=failed`}>{texts.all}</a>}>
      {builds.length === 0 ? (
        <p class="empty">{texts.noFailedBuilds}</p>
      ) : (
        <ul class="lines">
          {builds.map(({ buildId, templateName, reason, finishedAt, createdAt }) => (
            <li key={buildId}>
              <a href={paths.build(buildId)}>{templateName}</a>
              <span class="muted truncate grow" title={reason?.message}>
                {reason?.message}
              </span>
              <span class="muted small">
                <Ago at={finishedAt ?? createdAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

function Unserved({ unserved }: { readonly unserved: Overview['unserved'] }) {
  return (
    <Panel title={texts.unserved} isFlush>
      <ul class="lines">
        {unserved.map(({ operation, count }) => (
          <li key={operation}>
            <code class="grow">{operation}</code>
            <span class="number">{count}</span>
          </li>
        ))}
      </ul>
      <p class="muted small lines-note">{texts.unservedHint}</p>
    </Panel>
  )
}
