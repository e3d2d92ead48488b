{{/* A value as the text of a variable: whole numbers are written out, which YAML would otherwise show as 2.592e+09. */}}
{{- define "filing-webhooks.text" -}}
{{- if and (kindIs "float64" .) (eq . (floor .)) -}}
{{- int64 . -}}
{{- else -}}
{{- . -}}
{{- end -}}
{{- end -}}

{{/* The data of the ConfigMap. */}}
{{- define "filing-webhooks.settings" -}}
{{- $settings := deepCopy .Values.settings -}}
{{- if .Values.trialRedis.enabled -}}
{{- $_ := set $settings "REDIS_SCHEME" "redis" -}}
{{- $_ := set $settings "REDIS_HOSTS" (printf "%s:6379" (include "filing-webhooks.trialRedis" .)) -}}
{{- end -}}
{{- $data := dict -}}
{{- range $name, $value := $settings -}}
{{- $_ := set $data $name (include "filing-webhooks.text" $value) -}}
{{- end -}}
{{- toYaml $data -}}
{{- end -}}

{{/* The kinds of processes, as a list below `kinds`. */}}
{{- define "filing-webhooks.kinds" -}}
{{- $fullname := include "filing-webhooks.fullname" . -}}
{{- $kinds := list -}}
{{- if eq .Values.mode "split-roles" -}}
{{- range $role := list "api" "poll" "deliver" -}}
{{- $of := get $.Values.roles $role -}}
{{- $scaled := and (eq $role "deliver") $.Values.autoscaling.enabled -}}
{{- $kinds = append $kinds (dict "name" (printf "%s-%s" $fullname $role) "component" $role "roles" $role "replicas" $of.replicas "resources" $of.resources "scaled" $scaled) -}}
{{- end -}}
{{- else -}}
{{- $of := .Values.process -}}
{{- $kinds = append $kinds (dict "name" $fullname "component" "daemon" "roles" "api,poll,deliver" "replicas" $of.replicas "resources" $of.resources "scaled" false) -}}
{{- end -}}
{{- toYaml (dict "kinds" $kinds) -}}
{{- end -}}

{{/* The keys that the Secret has to have, as a list. */}}
{{- define "filing-webhooks.required" -}}
{{- $keys := list "API_TOKEN" "ENCRYPTION_KEY" -}}
{{- if not .Values.redisUrl -}}
{{- $keys = append $keys "REDIS_URL" -}}
{{- else if contains "$(REDIS_PASSWORD)" .Values.redisUrl -}}
{{- $keys = append $keys "REDIS_PASSWORD" -}}
{{- end -}}
{{- toYaml $keys -}}
{{- end -}}

{{/* Refuses values that are possible one by one, and not together. */}}
{{- define "filing-webhooks.check" -}}
{{- if and .Values.autoscaling.enabled (ne .Values.mode "split-roles") -}}
{{- fail "autoscaling.enabled is for the processes of delivery: set mode to split-roles" -}}
{{- end -}}
{{- if gt (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas) -}}
{{- fail "autoscaling.minReplicas is above autoscaling.maxReplicas" -}}
{{- end -}}
{{- if and .Values.trialRedis.enabled (not (contains "$(REDIS_PASSWORD)" .Values.redisUrl)) -}}
{{- fail "trialRedis.enabled needs the redisUrl of the defaults" -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) -}}
{{- fail "ingress.host is missing" -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) -}}
{{- fail "httpRoute.parentRefs has to name a Gateway" -}}
{{- end -}}
{{- $own := list "HOST" "PORT" "METRICS_PORT" "ROLES" "REDIS_URL" -}}
{{- $secret := list "API_TOKEN" "ENCRYPTION_KEY" "REDIS_PASSWORD" "PARTNER_KEY" "OTEL_EXPORTER_OTLP_HEADERS" -}}
{{- range .Values.extraEnv -}}
{{- if has .name $own -}}
{{- fail (printf "extraEnv has %s, which the chart sets by itself" .name) -}}
{{- end -}}
{{- if has .name $secret -}}
{{- fail (printf "extraEnv has %s, which comes from the Secret of existingSecret" .name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
