{{- define "filing-webhooks.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 48 | trimSuffix "-" -}}
{{- end -}}

{{/* The release's name where it has the chart's in it, otherwise both. Room is left for the suffixes. */}}
{{- define "filing-webhooks.fullname" -}}
{{- $name := include "filing-webhooks.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 48 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 48 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 48 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "filing-webhooks.serviceAccount" -}}
{{- if .Values.serviceAccount.name -}}
{{- .Values.serviceAccount.name -}}
{{- else if .Values.serviceAccount.create -}}
{{- include "filing-webhooks.fullname" . -}}
{{- else -}}
default
{{- end -}}
{{- end -}}

{{/* What selects the pods of this release, whatever their roles. */}}
{{- define "filing-webhooks.selector" -}}
app.kubernetes.io/name: {{ include "filing-webhooks.name" . }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "filing-webhooks.releaseLabels" -}}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{- define "filing-webhooks.labels" -}}
{{ include "filing-webhooks.selector" . }}
{{ include "filing-webhooks.releaseLabels" . }}
{{- end -}}

{{- define "filing-webhooks.trialRedis" -}}
{{- include "filing-webhooks.fullname" . }}-trial-redis
{{- end -}}

{{- define "filing-webhooks.trialRedisSelector" -}}
app.kubernetes.io/name: redis
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "filing-webhooks.image" -}}
{{- $image := .Values.image -}}
{{- printf "%s:%s" $image.repository (default .Chart.AppVersion $image.tag) -}}
{{- if $image.digest }}@{{ $image.digest }}{{ end -}}
{{- end -}}
