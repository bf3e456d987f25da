//! Checks requests against an OpenAPI 3 or Swagger 2 description.
//!
//! This is stricter than the hosts: parameters and fields that the description does not name are refused, because
//! hosts ignore them silently.

use serde_json::{Map, Value, json};

use super::double::{Request, decoded};

pub(crate) struct Description {
    document: Value,
}

/// The names of the placeholders of a path, each with its value.
type Placeholders<'a> = Vec<(&'a str, &'a str)>;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

impl Description {
    /// `text` is JSON.
    pub(crate) fn parse(text: &str) -> Self {
        let mut document = serde_json::from_str(text).expect("the description is JSON");
        accept_null(&mut document);
        Self { document }
    }

    /// Checks the request, whose `path` follows the address of the API, such as `/repos/team/shop/pulls/7`.
    pub(crate) fn check(&self, path: &str, request: &Request) -> Result<(), String> {
        let (item, values) = self.item(path)?;
        let method = request.method.to_lowercase();
        let operation = item
            .get(&method)
            .filter(|_| METHODS.contains(&method.as_str()))
            .ok_or("unknown method")?;
        let parameters = || {
            let lists = [item, operation].map(|owner| owner["parameters"].as_array());
            lists
                .into_iter()
                .flatten()
                .flatten()
                .map(|parameter| self.resolved(parameter))
        };
        for (name, value) in &values {
            let parameter =
                parameters().find(|known| known["in"] == "path" && known["name"] == **name);
            let parameter =
                parameter.ok_or_else(|| format!("the path has no parameter `{name}`"))?;
            self.check_text(name, &decoded(value), parameter)?;
        }
        for (name, value) in &request.query {
            let plain = name.trim_end_matches("[]");
            let parameter = parameters().find(|known| {
                known["in"] == "query" && (known["name"] == **name || known["name"] == *plain)
            });
            let parameter = parameter.ok_or_else(|| format!("unknown parameter `{name}`"))?;
            self.check_text(name, value, parameter)?;
        }
        for parameter in parameters().filter(|parameter| parameter["required"] == true) {
            let name = parameter["name"].as_str().unwrap_or_default();
            if parameter["in"] == "query" && request.parameter(name).is_none() {
                return Err(format!("the parameter `{name}` is missing"));
            }
        }
        let (schema, is_required) = self.body(operation, parameters());
        if request.sent.is_empty() {
            return if is_required {
                Err("the body is missing".to_owned())
            } else {
                Ok(())
            };
        }
        if request
            .header("content-type")
            .is_none_or(|kind| !kind.starts_with("application/json"))
        {
            return Err("the body is not declared as JSON".to_owned());
        }
        let schema = schema.ok_or("the operation has no body")?;
        self.check_value("the body", &request.body, &schema)?;
        self.refuse_unknown("", &request.body, &[&schema])
    }

    /// Finds the path's template with the most characters outside of placeholders, and the values of the placeholders.
    fn item<'a>(&'a self, path: &'a str) -> Result<(&'a Value, Placeholders<'a>), String> {
        let paths = self.document["paths"]
            .as_object()
            .expect("a description has paths");
        let fitting = paths
            .iter()
            .filter_map(|(template, item)| Some((matched(template, path)?, item)));
        let best = fitting.max_by_key(|(values, _)| {
            let filled: usize = values.iter().map(|(_, value)| value.len()).sum();
            path.len() - filled
        });
        best.map(|(values, item)| (item, values))
            .ok_or_else(|| format!("unknown path {path}"))
    }

    /// Returns the schema of the body, and whether a body is required.
    fn body<'a>(
        &self,
        operation: &Value,
        parameters: impl Iterator<Item = &'a Value>,
    ) -> (Option<Value>, bool) {
        let body = self.resolved(&operation["requestBody"]);
        if let Some(schema) = body["content"]["application/json"].get("schema") {
            return (Some(schema.clone()), body["required"] == true);
        }
        // Swagger 2.
        let mut fields = Map::new();
        let mut required = Vec::new();
        for parameter in parameters {
            let is_required = parameter["required"] == true;
            match parameter["in"].as_str() {
                Some("body") => return (Some(parameter["schema"].clone()), is_required),
                Some("formData") => {
                    let name = parameter["name"].as_str().unwrap_or_default();
                    fields.insert(name.to_owned(), type_of(parameter));
                    required.extend(is_required.then_some(name));
                }
                _ => {}
            }
        }
        let form = json!({ "type": "object", "properties": fields, "required": required });
        (
            Some(form).filter(|_| !fields.is_empty()),
            !required.is_empty(),
        )
    }

    /// Checks a parameter of the path or of the query.
    fn check_text(&self, name: &str, text: &str, parameter: &Value) -> Result<(), String> {
        let schema = type_of(parameter);
        let resolved = self.resolved(&schema);
        let items = self.resolved(&resolved["items"]);
        let form = if items.is_null() { resolved } else { items };
        let parts: Vec<&str> = if items.is_null() {
            vec![text]
        } else {
            text.split(',').collect()
        };
        for part in parts {
            let is_text = form["type"] == "string";
            let value = if is_text {
                json!(part)
            } else {
                serde_json::from_str(part).unwrap_or(json!(part))
            };
            self.check_value(&format!("the parameter `{name}`"), &value, form)?;
        }
        Ok(())
    }

    fn check_value(&self, what: &str, value: &Value, schema: &Value) -> Result<(), String> {
        let mut whole = schema.as_object().cloned().unwrap_or_default();
        for definitions in ["components", "definitions"] {
            if let Some(known) = self.document.get(definitions) {
                whole.insert(definitions.to_owned(), known.clone());
            }
        }
        let validator = jsonschema::options()
            .should_validate_formats(true)
            .build(&Value::Object(whole));
        let validator =
            validator.map_err(|error| format!("the schema of {what} is invalid: {error}"))?;
        let errors: Vec<String> = validator
            .iter_errors(value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        if errors.is_empty() {
            Ok(())
        } else {
            Err(format!("{what} does not fit: {}", errors.join("; ")))
        }
    }

    /// Refuses fields that none of the schemas names. An object whose schemas name no field is a map.
    fn refuse_unknown(&self, at: &str, value: &Value, schemas: &[&Value]) -> Result<(), String> {
        let mut parts = Vec::new();
        schemas
            .iter()
            .for_each(|schema| self.parts(schema, &mut parts));
        match value {
            Value::Object(fields) => {
                let is_map = !parts.iter().any(|part| part["properties"].is_object());
                for (name, field) in fields {
                    let at = format!("{at}.{name}");
                    let key = if is_map { part_of_map } else { part_of_object };
                    let known: Vec<&Value> =
                        parts.iter().filter_map(|part| key(part, name)).collect();
                    if known.is_empty() && !is_map {
                        return Err(format!("unknown field `{at}`"));
                    }
                    self.refuse_unknown(&at, field, &known)?;
                }
            }
            Value::Array(items) => {
                let known: Vec<&Value> =
                    parts.iter().filter_map(|part| part.get("items")).collect();
                for item in items {
                    self.refuse_unknown(&format!("{at}[]"), item, &known)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Collects a schema with all schemas that it combines.
    fn parts<'a>(&'a self, schema: &'a Value, found: &mut Vec<&'a Value>) {
        let schema = self.resolved(schema);
        found.push(schema);
        for combined in ["allOf", "anyOf", "oneOf"] {
            schema[combined]
                .as_array()
                .into_iter()
                .flatten()
                .for_each(|part| self.parts(part, found));
        }
    }

    fn resolved<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"]
            .as_str()
            .and_then(|target| target.strip_prefix('#'))
        {
            Some(target) => self.resolved(
                self.document
                    .pointer(target)
                    .expect("a reference has a target"),
            ),
            None => value,
        }
    }
}

fn part_of_object<'a>(part: &'a Value, name: &str) -> Option<&'a Value> {
    part["properties"].get(name)
}

fn part_of_map<'a>(part: &'a Value, _name: &str) -> Option<&'a Value> {
    part.get("additionalProperties")
        .filter(|schema| schema.is_object())
}

/// The schema of a parameter, which Swagger 2 writes into the parameter itself.
fn type_of(parameter: &Value) -> Value {
    if let Some(schema) = parameter.get("schema") {
        return schema.clone();
    }
    let names = ["type", "items", "enum", "minimum", "maximum", "format"];
    let parts = names
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), parameter.get(*name)?.clone())));
    Value::Object(parts.collect())
}

/// Returns the values of the placeholders if the path fits the template. A segment can have several placeholders, such as
/// `{index}.{kind}`.
fn matched<'a>(template: &'a str, path: &'a str) -> Option<Placeholders<'a>> {
    let (template, path): (Vec<&str>, Vec<&str>) =
        (template.split('/').collect(), path.split('/').collect());
    let mut values = Vec::new();
    for (known, found) in template.iter().zip(&path) {
        values.extend(in_segment(known, found)?);
    }
    (template.len() == path.len()).then_some(values)
}

fn in_segment<'a>(mut template: &'a str, mut text: &'a str) -> Option<Placeholders<'a>> {
    let mut values = Vec::new();
    while let Some((literal, rest)) = template.split_once('{') {
        let (name, rest) = rest.split_once('}')?;
        text = text.strip_prefix(literal)?;
        let next = rest.split('{').next().unwrap_or_default();
        let end = if next.is_empty() {
            text.len()
        } else {
            text.find(next)?
        };
        let (value, after) = text.split_at(end);
        if value.is_empty() {
            return None;
        }
        values.push((name, value));
        (template, text) = (rest, after);
    }
    (template == text).then_some(values)
}

/// Replaces `nullable` of OpenAPI 3.0 by the type `null` of JSON Schema.
fn accept_null(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(accept_null);
            if fields.get("nullable") == Some(&json!(true)) {
                if let Some(kind) = fields.get_mut("type").filter(|kind| kind.is_string()) {
                    *kind = json!([kind.clone(), "null"]);
                }
                if let Some(Value::Array(values)) = fields.get_mut("enum") {
                    values.push(Value::Null);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(accept_null),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPENAPI: &str = r##"{
        "paths": {"/shops/{shop}/items": {
            "parameters": [{"name": "shop", "in": "path", "required": true, "schema": {"type": "integer"}}],
            "get": {"parameters": [
                {"name": "state", "in": "query", "schema": {"type": "string", "enum": ["open", "sold"]}},
                {"name": "page", "in": "query", "required": true, "schema": {"type": "integer"}}
            ]},
            "post": {"requestBody": {"required": true, "content": {"application/json": {
                "schema": {"$ref": "#/components/schemas/item"}}}}}
        }},
        "components": {"schemas": {"item": {
            "type": "object", "required": ["name"], "additionalProperties": true,
            "properties": {"name": {"type": "string"}, "price": {"type": "integer", "nullable": true},
                "parts": {"type": "array", "items": {"$ref": "#/components/schemas/item"}},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}}},
            "anyOf": [{"properties": {"kind": {"enum": ["a"]}}}, {"properties": {"kind": {"enum": ["b"]}}}]
        }}}
    }"##;

    const SWAGGER: &str = r##"{
        "paths": {"/items": {
            "post": {"parameters": [{"name": "body", "in": "body", "required": true,
                "schema": {"$ref": "#/definitions/item"}}]},
            "put": {"parameters": [{"name": "name", "in": "formData", "required": true, "type": "string"},
                {"name": "sort", "in": "query", "type": "string", "enum": ["asc"]}]}
        }, "/items/{item}": {
            "get": {"parameters": [{"name": "item", "in": "path", "required": true, "type": "integer"}]}
        }, "/items/{item}.{kind}": {
            "get": {"parameters": [{"name": "item", "in": "path", "required": true, "type": "integer"},
                {"name": "kind", "in": "path", "required": true, "type": "string", "enum": ["diff"]}]}
        }},
        "definitions": {"item": {"type": "object", "properties": {"name": {"type": "string"}}}}
    }"##;

    #[rstest::rstest]
    #[case("GET /shops/1/items?page=2&state=open", "", "")]
    #[case("GET /shops/x/items?page=2", "", "the parameter `shop` does not fit")]
    #[case("GET /shops/1/items?page=x", "", "the parameter `page` does not fit")]
    #[case(
        "GET /shops/1/items?page=2&state=lost",
        "",
        "the parameter `state` does not fit"
    )]
    #[case("GET /shops/1/items?page=2&sort=up", "", "unknown parameter `sort`")]
    #[case("GET /shops/1/items", "", "the parameter `page` is missing")]
    #[case("GET /shops/1/items?page=1", "{}", "the operation has no body")]
    #[case("GET /shops/1/things", "", "unknown path")]
    #[case("PUT /shops/1/items", "", "unknown method")]
    #[case(
        "POST /shops/1/items",
        r#"{"name": "x", "price": null, "parts": [{"name": "y"}]}"#,
        ""
    )]
    #[case(
        "POST /shops/1/items",
        r#"{"name": "x", "labels": {"any": "text"}, "kind": "b"}"#,
        ""
    )]
    #[case(
        "POST /shops/1/items",
        r#"{"name": "x", "kind": "c"}"#,
        "the body does not fit"
    )]
    #[case("POST /shops/1/items", r#"{"price": 1}"#, "the body does not fit")]
    #[case(
        "POST /shops/1/items",
        r#"{"name": "x", "parts": [{"name": "y", "colour": 1}]}"#,
        "unknown field `.parts[].colour`"
    )]
    #[case("POST /shops/1/items", "", "the body is missing")]
    #[case("POST /items", r#"{"name": "x"}"#, "")]
    #[case("POST /items", r#"{"name": 1}"#, "the body does not fit")]
    #[case("POST /items", r#"{"colour": 1}"#, "unknown field `.colour`")]
    #[case("GET /items/7.diff", "", "")]
    #[case("GET /items/7.text", "", "the parameter `kind` does not fit")]
    #[case("GET /items/x", "", "the parameter `item` does not fit")]
    #[case("PUT /items?sort=asc", r#"{"name": "x"}"#, "")]
    #[case("PUT /items", "{}", "the body does not fit")]
    #[case(
        "PUT /items?sort=no",
        r#"{"name": "x"}"#,
        "the parameter `sort` does not fit"
    )]
    fn a_request_that_does_not_fit_is_refused(
        #[case] line: &str,
        #[case] body: &str,
        #[case] expected: &str,
    ) {
        let description = Description::parse(if line.contains("shops") {
            OPENAPI
        } else {
            SWAGGER
        });
        let head = format!("{line} HTTP/1.1\r\ncontent-type: application/json\r\n");
        let request = Request::parse(&head, body.to_owned()).expect("a request");
        let found = description
            .check(&request.path, &request)
            .err()
            .unwrap_or_default();
        assert!(
            found.starts_with(expected) && found.is_empty() == expected.is_empty(),
            "{found}"
        );
    }
}
