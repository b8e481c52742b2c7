import type { BuildDetail } from '@sandyard/dashboard-contract/templates'
import { machineText } from '../../parts/size-text.ts'
import { Time } from '../../parts/time.tsx'
import { buildsTexts as texts } from '../../texts/builds-texts.ts'
import { TagList } from '../../parts/tag-list.tsx'
import '../../styles/details.css'

export function BuildFacts({ build }: { readonly build: BuildDetail }) {
  return (
    <section class="panel" aria-labelledby="build-facts">
      <div class="panel-head">
        <h2 id="build-facts">{texts.facts}</h2>
      </div>
      <div class="panel-body stack">
        <dl class="facts">
          <dt>{texts.size}</dt>
          <dd>{machineText(build)}</dd>
          <dt>{texts.columns.tags}</dt>
          <dd>{build.tags.length === 0 ? '–' : <TagList tags={build.tags} />}</dd>
          <dt>{texts.created}</dt>
          <dd>
            <Time at={build.createdAt} />
          </dd>
          <dt>{texts.finished}</dt>
          <dd>
            <Time at={build.finishedAt} />
          </dd>
          {build.startCommand !== null && (
            <>
              <dt>{texts.start}</dt>
              <dd>
                <code>{build.startCommand}</code>
              </dd>
            </>
          )}
        </dl>
        {build.dockerfile !== null && (
          <details>
            <summary>{texts.dockerfile}</summary>
            {/* A region that scrolls must be reached by the keyboard. */}
            {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
            <pre class="code-block" role="region" aria-label={texts.dockerfile} tabIndex={0}>
              {build.dockerfile}
            </pre>
          </details>
        )}
      </div>
    </section>
  )
}
