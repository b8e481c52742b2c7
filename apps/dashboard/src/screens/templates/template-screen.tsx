import { useLocation, useRoute } from 'preact-iso/router'
import { useState } from 'preact/hooks'
import type { TemplateRow } from '@sandyard/dashboard-contract/templates'
import { call } from '../../api/call.ts'
import { useCall } from '../../api/use-call.ts'
import { paths } from '../../frame/paths.ts'
import { ErrorBoundary } from '../../parts/error-boundary.tsx'
import { LoadedPart } from '../../parts/loaded-part.tsx'
import { machineText } from '../../parts/size-text.ts'
import { Time } from '../../parts/time.tsx'
import { templatesTexts as texts } from '../../texts/templates-texts.ts'
import { TemplateActions } from './template-actions.tsx'
import { TemplateBuilds } from './template-builds.tsx'
import { nameOf } from './template-calls.ts'
import { TemplateTags } from './template-tags.tsx'
import '../../styles/builds.css'
import '../../styles/templates.css'
import '../../styles/details.css'

export function TemplateScreen() {
  const { templateId = '' } = useRoute().params
  const { route } = useLocation()
  const [turn, setTurn] = useState(0)
  const { value, failure, reload } = useCall(templateId, (signal) =>
    call('GET /templates/{templateId}', { params: { templateId }, signal }),
  )
  const changed = (): void => {
    setTurn((former) => former + 1)
    reload()
  }
  return (
    <div class="stack">
      <div class="page-head">
        <h1>{value === undefined ? texts.template : nameOf(value)}</h1>
        {value !== undefined && (
          <>
            <span class={`badge badge-plain ${value.isPublic ? 'badge-accent' : ''}`}>{value.isPublic ? texts.public : texts.private}</span>
            <div class="actions">
              <a class="button button-primary" href={`${paths.newSandbox}?template=${encodeURIComponent(nameOf(value))}`}>
                {texts.newSandbox}
              </a>
              <TemplateActions template={value} onDone={changed} onDeleted={() => route(paths.templates)} />
            </div>
          </>
        )}
      </div>
      <LoadedPart value={value} failure={failure} reload={reload}>
        {(template) => (
          <>
            <TemplateFacts template={template} />
            <ErrorBoundary name="tags">
              <TemplateTags template={template} turn={turn} onChanged={changed} />
            </ErrorBoundary>
            <ErrorBoundary name="builds">
              <TemplateBuilds template={template} />
            </ErrorBoundary>
          </>
        )}
      </LoadedPart>
    </div>
  )
}

function TemplateFacts({ template }: { readonly template: TemplateRow }) {
  const { templateId, names, spawnCount, lastUsedAt, createdAt, updatedAt, createdBy } = template
  return (
    <section class="panel" aria-labelledby="overview">
      <div class="panel-head">
        <h2 id="overview">{texts.overview}</h2>
      </div>
      <div class="panel-body columns">
        <dl class="facts">
          <dt>{texts.id}</dt>
          <dd class="mono">{templateId}</dd>
          <dt>{texts.names}</dt>
          <dd>{names.length === 0 ? texts.noName : names.join(', ')}</dd>
          <dt>{texts.columns.size}</dt>
          <dd>{machineText(template)}</dd>
          <dt>{texts.createdBy}</dt>
          <dd>{createdBy?.label ?? '–'}</dd>
        </dl>
        <dl class="facts">
          <dt>{texts.columns.spawns}</dt>
          <dd>{texts.times(spawnCount)}</dd>
          <dt>{texts.columns.used}</dt>
          <dd>
            <Time at={lastUsedAt} />
          </dd>
          <dt>{texts.columns.created}</dt>
          <dd>
            <Time at={createdAt} />
          </dd>
          <dt>{texts.columns.updated}</dt>
          <dd>
            <Time at={updatedAt} />
          </dd>
        </dl>
      </div>
    </section>
  )
}
