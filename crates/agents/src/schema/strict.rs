//! Converts a JSON schema to a restricted form. AI services accept schemas of this form for answers. The
//! restricted schema has no references, and requires all properties. Instead of omitting an optional property, a
//! model sets the property to null. Glee treats a property that is null as missing.

use serde_json::{Map, Value, json};

use glee_protocol::calls::kind::JsonForm;

pub(crate) fn schema(form: &JsonForm) -> String {
    let schema = (form.schema)().to_value();
    strict(&schema, &schema["$defs"]).to_string()
}

fn strict(schema: &Value, definitions: &Value) -> Value {
    if let Some(name) = schema["$ref"]
        .as_str()
        .and_then(|path| path.rsplit('/').next())
    {
        return strict(&definitions[name], definitions);
    }
    let list = |key: &str| schema[key].as_array();
    if let Some(words) =
        list("oneOf").and_then(|all| all.iter().map(|one| one["const"].as_str()).collect())
    {
        let words: Vec<&str> = words;
        return json!({"type": "string", "enum": words});
    }
    if let Some(all) = list("anyOf").or_else(|| list("oneOf")) {
        let all: Vec<Value> = all.iter().map(|one| strict(one, definitions)).collect();
        return json!({ "anyOf": all });
    }
    let mut narrow = Map::from_iter([("type".to_owned(), schema["type"].clone())]);
    if let Some(properties) = schema["properties"].as_object() {
        let names: Vec<&String> = properties.keys().collect();
        let all: Map<String, Value> = properties
            .iter()
            .map(|(name, property)| (name.clone(), strict(property, definitions)))
            .collect();
        narrow.insert("required".to_owned(), json!(names));
        narrow.insert("additionalProperties".to_owned(), json!(false));
        narrow.insert("properties".to_owned(), Value::Object(all));
    }
    if let Some(items) = schema.get("items") {
        narrow.insert("items".to_owned(), strict(items, definitions));
    }
    Value::Object(narrow)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::tests::form;
    use glee_protocol::calls::judge::RulingReply;

    #[test]
    fn a_ruling_in_the_narrow_form_is_one_for_glee_as_well() {
        let schema: Value =
            serde_json::from_str(&super::schema(&form("ruling"))).expect("a schema");
        let word = |words: &[&str]| json!({"type": "string", "enum": words});
        let or_null = |schema: Value| json!({"anyOf": [schema, {"type": "null"}]});
        assert_eq!(schema["properties"]["dispute"], json!({"type": "integer"}));
        assert_eq!(
            schema["properties"]["ruling"],
            word(&["ENFORCE", "DISMISS", "ESCALATE"])
        );
        assert_eq!(
            schema["properties"]["citations"],
            json!({"type": "array", "items": {"type": "string"}})
        );
        assert_eq!(
            schema["properties"]["duplicate_of"],
            or_null(json!({"type": "string"}))
        );
        assert_eq!(
            schema["required"].as_array().map(Vec::len),
            schema["properties"].as_object().map(Map::len)
        );
        let answer = json!({"nonce": "n", "dispute": 1, "ruling": "ENFORCE", "rationale": "r", "grounds": null,
            "citations": [], "new_tag": null, "duplicate_of": null, "coder_evidence": null, "members": [],
            "demonstrate": null});
        assert!(jsonschema::is_valid(&schema, &answer));
        assert!(serde_json::from_value::<RulingReply>(answer).is_ok());
        assert!(!jsonschema::is_valid(
            &schema,
            &json!({"nonce": "n", "dispute": 1, "ruling": "ENFORCE"})
        ));
    }
}
